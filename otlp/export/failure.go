package export

import (
	"fmt"
	"time"

	"github.com/sluicehq/sluice/internal/plural"
)

// maxPatience is the longest pause that a receiver may ask for.
const maxPatience = time.Minute

// Failure is a request that was not taken.
type Failure struct {
	text      string
	cause     error // nil for an answer
	permanent bool
	after     time.Duration
}

func (f *Failure) Error() string { return f.text }
func (f *Failure) Unwrap() error { return f.cause }

// Permanent reports whether another attempt would fail, too.
func (f *Failure) Permanent() bool { return f.permanent }

// RetryAfter is how long the receiver wants to be left alone.
func (f *Failure) RetryAfter() time.Duration { return min(max(f.after, 0), maxPatience) }

// Partial tells that a receiver took a request but not all of its records. Nothing of it
// may be sent again.
type Partial struct {
	Rejected int64
	Records  int
	Message  string
}

func (p *Partial) Error() string {
	text := fmt.Sprintf("%d of %s rejected by the receiver", p.Rejected, plural.Of(p.Records, "log record"))
	if p.Message != "" {
		text += ": " + p.Message
	}
	return text
}

// maxMessage is how much of a receiver's words is told.
const maxMessage = 512

// told makes words of a receiver fit for a log.
func told(message string) string {
	runes := []rune(message[:min(len(message), 4*maxMessage)])
	for i, r := range runes {
		if r < ' ' || r == 0x7f {
			runes[i] = ' '
		}
	}
	return string(runes[:min(len(runes), maxMessage)])
}
