package ndjson_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/sources"
	"github.com/sluicehq/sluice/sources/ndjson"
	"github.com/sluicehq/sluice/sources/sourcetest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func compressed(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestIngest(t *testing.T) {
	broken := errors.New("unexpected EOF")
	long := strings.Repeat("x", sources.MaxLine+1)
	for _, tc := range []struct {
		name     string
		body     io.Reader
		options  ndjson.Options
		max      int64
		lines    []string
		excerpts int
		err      error
	}{
		{"lines are not looked at", strings.NewReader("not json\n{\"CommandLine\":\"evil\"}"), ndjson.Options{}, 0, []string{"not json", `{"CommandLine":"evil"}`}, 0, nil},
		{"an empty body", strings.NewReader(""), ndjson.Options{}, 0, nil, 0, nil},
		{"an empty compressed body", strings.NewReader(""), ndjson.Options{Gzip: true}, 0, nil, 0, nil},
		{"a line that is too long ends the body", strings.NewReader("{\"a\":1}\n" + long + "\nb\n"), ndjson.Options{}, 0, []string{`{"a":1}`}, 1, ndjson.ErrLineTooLong},
		{"a compressed body", strings.NewReader(compressed(t, "a\nb\n")), ndjson.Options{Gzip: true}, 0, []string{"a", "b"}, 0, nil},
		{"exactly the cap is allowed", strings.NewReader("a\nbb\n"), ndjson.Options{}, 5, []string{"a", "bb"}, 0, nil},
		{"the largest cap there is", strings.NewReader("a\nbb\n"), ndjson.Options{}, math.MaxInt64, []string{"a", "bb"}, 0, nil},
		{"above the cap", strings.NewReader("a\nbb\nc"), ndjson.Options{}, 5, []string{"a", "bb"}, 0, ndjson.ErrBodyTooLarge},
		{"the cap counts inflated bytes", strings.NewReader(compressed(t, strings.Repeat("x", 1000)+"\ny")), ndjson.Options{Gzip: true}, 1001, []string{strings.Repeat("x", 1000)}, 0, ndjson.ErrBodyTooLarge},
		{"a body that breaks off keeps what is in", io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)), ndjson.Options{}, 0, []string{"a"}, 0, broken},
		{"a body of JSON is its values", strings.NewReader("[{\"a\":1},\n {\"a\":2}]\n{\"b\":\n3}"), ndjson.Options{JSON: true}, 0, []string{`{"a":1}`, `{"a":2}`, `{"b": 3}`}, 0, nil},
		{"a compressed one, too", strings.NewReader(compressed(t, "[1,2]")), ndjson.Options{JSON: true, Gzip: true}, 0, []string{"1", "2"}, 0, nil},
		{"a bad value leaves its neighbours alone", strings.NewReader(`[{"a":1},{bad},{"a":3}]`), ndjson.Options{JSON: true}, 0, []string{`{"a":1}`, `{bad}`, `{"a":3}`}, 0, nil},
		{"a body that ends inside a value", strings.NewReader(`[{"a":1},{"a":2`), ndjson.Options{JSON: true}, 0, []string{`{"a":1}`, `{"a":2`}, 0, nil},
		{"a value that is too long ends the body", strings.NewReader(`[{"a":1},{"a":2},{"a":"` + long + `"},{"a":4}]`), ndjson.Options{JSON: true}, 0, []string{`{"a":1}`, `{"a":2}`}, 1, ndjson.ErrLineTooLong},
		{"a body of JSON above the cap", strings.NewReader("[1,2]"), ndjson.Options{JSON: true}, 4, []string{"1"}, 0, ndjson.ErrBodyTooLarge},
		{"what is not gzip", strings.NewReader("plain text, no gzip"), ndjson.Options{Gzip: true}, 0, nil, 0, gzip.ErrHeader},
		{"gzip that no option names", strings.NewReader(compressed(t, "a\nb\n")), ndjson.Options{}, 0, nil, 0, ndjson.ErrCompressed},
		{"the same as JSON", strings.NewReader(compressed(t, "[1,2]")), ndjson.Options{JSON: true}, 0, nil, 0, ndjson.ErrCompressed},
		{"gzip that comes byte by byte", iotest.OneByteReader(strings.NewReader(compressed(t, "a\nb\n"))), ndjson.Options{}, 0, nil, 0, ndjson.ErrCompressed},
		{"gzip within gzip", strings.NewReader(compressed(t, compressed(t, "a\nb\n"))), ndjson.Options{Gzip: true}, 0, nil, 0, ndjson.ErrTwiceGzip},
		{"half of the mark of gzip is text", strings.NewReader("\x1fa\n\x1f\x8b\n"), ndjson.Options{}, 0, []string{"\x1fa", "\x1f\x8b"}, 0, nil},
		{"gzip that breaks off", strings.NewReader(compressed(t, "a\nb\n")[:20]), ndjson.Options{Gzip: true}, 0, []string{"a", "b"}, 0, io.ErrUnexpectedEOF},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := sourcetest.NewIntake(10)
			limit := tc.max
			if limit == 0 {
				limit = ndjson.DefaultMaxBody
			}
			accepted, _, err := ndjson.NewIntake(in, limit, nil).Ingest(t.Context(), tc.body, tc.options)
			if !errors.Is(err, tc.err) || (err == nil) != (tc.err == nil) {
				t.Errorf("got error %v, want %v", err, tc.err)
			}
			for _, line := range in.Take() {
				if line.Structured != tc.options.JSON {
					t.Errorf("line %q is one value: %t", line.Raw, line.Structured)
				}
			}
			if got := in.Lines(); !slices.Equal(got, tc.lines) || accepted != len(tc.lines) {
				t.Errorf("accepted %d, admitted %q, want %q", accepted, got, tc.lines)
			}
			if got := len(in.Excerpts()); got != tc.excerpts {
				t.Errorf("got %d excerpts, want %d", got, tc.excerpts)
			}
		})
	}
}

func TestABodyOfJSONIsLinesWhereTheInputFormatIsNotJSON(t *testing.T) {
	in := sourcetest.NewIntake(10)
	n := ndjson.NewIntake(in, ndjson.DefaultMaxBody, nil)
	n.Lines = true
	accepted, _, err := n.Ingest(t.Context(), strings.NewReader("[1,\n2]"), ndjson.Options{JSON: true})
	if want := []string{"[1,", "2]"}; err != nil || accepted != 2 || !slices.Equal(in.Lines(), want) {
		t.Errorf("accepted %d of %q, %v, want %q", accepted, in.Lines(), err, want)
	}
}

// generated is a body that is made while it is read, and counts what of it was read.
type generated struct {
	head, element, tail string
	elements            int
	rest                string
	n                   int
}

func (g *generated) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if g.rest == "" {
			switch {
			case g.n == 0:
				g.rest = g.head + g.element
			case g.n < g.elements:
				g.rest = "," + g.element
			case g.n == g.elements:
				g.rest = g.tail
			default:
				return n, io.EOF
			}
			g.n++
		}
		k := copy(p[n:], g.rest)
		g.rest = g.rest[k:]
		n += k
	}
	return n, nil
}

// discarding takes all lines in and forgets them.
type discarding struct{ lines, peak int }

func (d *discarding) Put(_ context.Context, run []graph.Line) (int, error) {
	if d.lines += len(run); d.lines/(1<<16) != (d.lines-len(run))/(1<<16) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		d.peak = max(d.peak, int(m.HeapAlloc))
	}
	graph.ReleaseLines(run)
	return len(run), nil
}

func (d *discarding) Oversize(context.Context, []byte, graph.Token) error { return nil }

// An array of any length is read in the same memory: 64 MiB, or as much as
// SLUICE_BODY_MIB says.
func TestALongArrayIsReadInConstantMemory(t *testing.T) {
	size := 64 << 20
	if text := os.Getenv("SLUICE_BODY_MIB"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		size = n << 20
	}
	const element = "{\n  \"EventID\": 1,\n  \"Image\": \"C:\\\\Windows\\\\System32\\\\cmd.exe\",\n  \"CommandLine\": \"cmd /c whoami\"\n}"
	body := &generated{head: "[\n", element: element, tail: "\n]", elements: size / (len(element) + 1)}
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	in := &discarding{}
	accepted, _, err := ndjson.NewIntake(in, 1<<40, nil).Ingest(t.Context(), body, ndjson.Options{JSON: true})
	if err != nil || accepted != body.elements || in.lines != body.elements {
		t.Errorf("accepted %d of %d elements, %v", accepted, body.elements, err)
	}
	if grown := in.peak - int(before.HeapAlloc); grown > 16<<20 {
		t.Errorf("a body of %d MiB takes %d MiB of memory", size>>20, grown>>20)
	}
}

func TestTheClientLeavesWhileTheQueueIsFull(t *testing.T) {
	in := sourcetest.NewIntake(100)
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		for in.Waited() == 0 {
			time.Sleep(time.Millisecond)
		}
		leave()
	}()
	accepted, _, err := ndjson.NewIntake(in, ndjson.DefaultMaxBody, nil).Ingest(ctx, strings.NewReader(strings.Repeat("{}\n", 300)), ndjson.Options{})
	if accepted != 100 || len(in.Lines()) != 100 || !errors.Is(err, context.Canceled) {
		t.Errorf("accepted %d, admitted %d, error %v, want 100, 100 and the context's", accepted, len(in.Lines()), err)
	}
}

func TestADrainingDaemonRefuses(t *testing.T) {
	in := sourcetest.NewIntake(100)
	in.Close()
	accepted, _, err := ndjson.NewIntake(in, ndjson.DefaultMaxBody, nil).Ingest(t.Context(), strings.NewReader("a\n"), ndjson.Options{Commit: true})
	if accepted != 0 || !errors.Is(err, ndjson.ErrDraining) {
		t.Errorf("got %d and %v, want 0 and %v", accepted, err, ndjson.ErrDraining)
	}
}

func TestCommit(t *testing.T) {
	for _, tc := range []struct {
		name   string
		body   string
		settle func(in *sourcetest.Intake, over chan struct{})
		want   error
		after  time.Duration
		failed int // lines that could not be decoded
	}{
		{"an empty body has ended", "", func(*sourcetest.Intake, chan struct{}) {}, nil, 0, 0},
		{"lines that could not be decoded are counted", "a\nb\nc\n", func(in *sourcetest.Intake, _ chan struct{}) {
			for i, l := range in.Take() {
				if i > 0 {
					l.Token.Undecoded()
				}
				l.Token.Settle()
			}
		}, nil, 0, 2},
		{"every line ended after a while", "a\nb\n", func(in *sourcetest.Intake, _ chan struct{}) {
			for _, l := range in.Take() {
				time.Sleep(2 * time.Second)
				l.Token.Settle()
			}
		}, nil, 4 * time.Second, 0},
		{"a line that does not end", "a\nb\n", func(in *sourcetest.Intake, _ chan struct{}) {
			in.Take()[0].Token.Settle()
		}, ndjson.ErrCommitDeadline, 30 * time.Second, 0},
		{"the drain is over first", "a\n", func(_ *sourcetest.Intake, over chan struct{}) {
			time.Sleep(time.Second)
			close(over)
		}, ndjson.ErrCommitDeadline, time.Second, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in, over := sourcetest.NewIntake(10), make(chan struct{})
				begin := time.Now()
				go func() {
					for tc.body != "" && len(in.Lines()) == 0 {
						time.Sleep(time.Nanosecond)
					}
					tc.settle(in, over)
				}()
				_, failed, err := ndjson.NewIntake(in, ndjson.DefaultMaxBody, over).Ingest(t.Context(), strings.NewReader(tc.body), ndjson.Options{Commit: true})
				took := time.Since(begin).Round(time.Second)
				if !errors.Is(err, tc.want) || took != tc.after {
					t.Errorf("got %v after %s, want %v after %s", err, took, tc.want, tc.after)
				}
				if failed != tc.failed {
					t.Errorf("%d lines could not be decoded, want %d", failed, tc.failed)
				}
				synctest.Wait()
			})
		})
	}
}

// What has ended is answered so, even when the wait is over at the same moment.
func TestLinesThatHaveEndedWithTheDrainAreCommitted(t *testing.T) {
	for range 100 {
		in, over := sourcetest.NewIntake(10), make(chan struct{})
		body, client := io.Pipe()
		go func() {
			_, _ = io.WriteString(client, "a\n")
			for len(in.Lines()) == 0 {
				time.Sleep(time.Millisecond)
			}
			in.Take()[0].Token.Settle()
			close(over)
			_ = client.Close()
		}()
		if accepted, _, err := ndjson.NewIntake(in, ndjson.DefaultMaxBody, over).Ingest(t.Context(), body, ndjson.Options{Commit: true}); accepted != 1 || err != nil {
			t.Fatalf("accepted %d, %v, want 1 and no error", accepted, err)
		}
	}
}

// An event filter sees an array whole, so it is one line.
func TestAnArrayIsOneLineWhereAFilterSeesIt(t *testing.T) {
	in := sourcetest.NewIntake(10)
	n := ndjson.NewIntake(in, ndjson.DefaultMaxBody, nil)
	n.Whole = true
	accepted, _, err := n.Ingest(t.Context(), strings.NewReader("[1,\n[2]]{\"a\":[3]}\n[]"), ndjson.Options{JSON: true})
	if want := []string{"[1, [2]]", `{"a":[3]}`, "[]"}; err != nil || accepted != 3 || !slices.Equal(in.Lines(), want) {
		t.Errorf("accepted %d, %q, %v, want %q", accepted, in.Lines(), err, want)
	}
	in = sourcetest.NewIntake(10)
	n = ndjson.NewIntake(in, ndjson.DefaultMaxBody, nil)
	n.Whole = true
	long := "[" + strings.Repeat(`"a",`, sources.MaxLine/4) + "1]"
	if accepted, _, err = n.Ingest(t.Context(), strings.NewReader("[1]"+long+"2"), ndjson.Options{JSON: true}); accepted != 1 || !errors.Is(err, ndjson.ErrLineTooLong) {
		t.Errorf("accepted %d, %v, want the array in front of the one that is too long", accepted, err)
	}
}
