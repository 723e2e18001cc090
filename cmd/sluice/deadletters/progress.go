package deadletters

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/sluicehq/sluice/internal/clip"
	"github.com/sluicehq/sluice/internal/disk"
)

// progress is how far the replays of one file came. Lines and results have a track each,
// since a replay may have a target for one of them alone.
type progress struct {
	path   string            // empty: nothing is kept
	Tracks map[string]*track `json:"progress"`
}

// The tracks.
const (
	trackLines   = "lines"
	trackResults = "results"
)

// track is the progress of a replay of one kind of records.
type track struct {
	Selection string    `json:"selection"`        // filters and target, as flags
	Since     time.Time `json:"since,omitzero"`   // of the filter
	Until     time.Time `json:"until,omitzero"`   // of the filter
	End       int64     `json:"end"`              // of the text that is done
	Line      int       `json:"line"`             // the last one that is done
	Last      int64     `json:"last"`             // where that line begins
	Digest    string    `json:"sha256,omitempty"` // of that line

	// Refused are the first records up to End that will never be taken, and More how many
	// there are beside them.
	Refused []refused `json:"refused,omitempty"`
	More    int       `json:"refused_more,omitempty"`
	ahead   []refused // behind End
}

// refused is a record that will never be taken.
type refused struct {
	Number int    `json:"number"`
	Error  string `json:"error"`
	end    int64  // of its line
}

// Bounds of what a track remembers.
const (
	maxRefused = 100
	maxReason  = 300
)

// mark is a place between two lines of a file.
type mark struct {
	end  int64
	line int
	last int64
	sum  string
}

func (t *track) mark() mark { return mark{t.End, t.Line, t.Last, t.Digest} }

func (t *track) move(to mark) {
	t.End, t.Line, t.Last, t.Digest = to.end, to.line, to.last, to.sum
	n := 0
	for ; n < len(t.ahead) && t.ahead[n].end <= t.End; n++ {
		if len(t.Refused) < maxRefused {
			t.Refused = append(t.Refused, t.ahead[n])
		} else {
			t.More++
		}
	}
	t.ahead = t.ahead[n:]
}

// refuse remembers a record that will never be taken, once the track is behind it.
func (t *track) refuse(number int, err error, end int64) {
	t.ahead = append(t.ahead, refused{number, clip.Text(err.Error(), maxReason), end})
	slices.SortStableFunc(t.ahead, func(a, b refused) int { return cmp.Compare(a.end, b.end) })
}

// digest identifies a line.
func digest(line []byte) string {
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:16])
}

// loadProgress reads what path holds. No file is the beginning.
func loadProgress(path string) (*progress, error) {
	p := &progress{path: path, Tracks: make(map[string]*track)}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return nil, fmt.Errorf("progress: %w", err)
	}
	p.Tracks = nil
	if err := json.Unmarshal(raw, p); err != nil || p.Tracks == nil {
		return nil, fmt.Errorf("progress: %s was not written by a replay (name another file with --state, or begin anew with --restart)", path)
	}
	for name, t := range p.Tracks {
		if t == nil || t.End < 0 || t.Last < 0 || t.Last > t.End || t.Line < 0 {
			return nil, fmt.Errorf("progress: %s: %q makes no sense (begin anew with --restart)", path, name)
		}
	}
	return p, nil
}

// save replaces the file at once: whoever reads it, even after a power failure, finds
// the old progress or the new one.
func (p *progress) save() error {
	if p.path == "" {
		return nil
	}
	raw, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return fmt.Errorf("progress: %w", err)
	}
	if err := disk.Replace(p.path, append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("progress: %w", err)
	}
	return nil
}

// resume leads a stream behind the text that all tracks are done with. It makes sure
// that the stream is the one that the progress is about.
func resume(s *stream, tracks []*track) error {
	var first mark
	for i, t := range tracks {
		if i == 0 || t.End < first.end {
			first = t.mark()
		}
	}
	if first.end == 0 {
		return nil
	}
	other := fmt.Errorf("%s is another file than the one that was replayed up to line %d (begin anew with --restart, or name another file with --state)", s.name, first.line)
	if err := s.skip(first.last, first.line-1); err != nil {
		if errors.Is(err, io.EOF) {
			return other
		}
		return err
	}
	text, err := s.next()
	switch {
	case errors.Is(err, io.EOF):
		return other
	case err != nil && !errors.Is(err, errTooLong) && !errors.Is(err, errCutOff):
		return err
	case s.end < first.end || s.end > first.end+2 || digest(text) != first.sum: // a line end may have come since
		return other
	}
	return nil
}
