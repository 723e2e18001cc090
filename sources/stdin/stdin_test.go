package stdin_test

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/internal/modetest"
	"github.com/sluicehq/sluice/sources"
	"github.com/sluicehq/sluice/sources/sourcetest"
	"github.com/sluicehq/sluice/sources/stdin"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func TestContract(t *testing.T) {
	sourcetest.Contract(t, sourcetest.Harness{
		Finite: true,
		New: func(t *testing.T, m modetest.Mode, lines []string) sources.Source {
			t.Helper()
			near, far := m.Pipe(t)
			go func() {
				_, _ = io.WriteString(far, strings.Join(lines, "\n")) // the source may not read it all
				_ = far.Close()
			}()
			return stdin.New(near)
		},
	})
}

func TestEndOfStream(t *testing.T) {
	broken := errors.New("input/output error")
	long := strings.Repeat("x", sources.MaxLine+1)
	for _, tc := range []struct {
		name     string
		in       io.Reader
		lines    []string
		excerpts int
		err      error
	}{
		{"an empty stream ends at once", strings.NewReader(""), nil, 0, nil},
		{"the end of the stream ends the source", strings.NewReader("a\n\nb"), []string{"a", "b"}, 0, nil},
		{"an error ends the source and is told", io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)), []string{"a"}, 0, broken},
		{"an oversize line is reported in between", strings.NewReader("a\n" + long + "\nb\n"), []string{"a", "b"}, 1, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := sourcetest.NewIntake(10)
			err := stdin.New(tc.in).Run(t.Context(), in)
			if !errors.Is(err, tc.err) || (err == nil) != (tc.err == nil) {
				t.Errorf("got error %v, want %v", err, tc.err)
			}
			if got := in.Lines(); !slices.Equal(got, tc.lines) {
				t.Errorf("got %q, want %q", got, tc.lines)
			}
			if got := len(in.Excerpts()); got != tc.excerpts {
				t.Errorf("got %d excerpts, want %d", got, tc.excerpts)
			}
		})
	}
}

func TestAnEncodingOfStdinIsTold(t *testing.T) {
	for text, want := range map[string]int{"\x1f\x8b\x08\n\x1f\x8b": 1, "a\n\x1f\x8b": 0, "\xff\xfe\n\xff\xfe": 1, "\x28\xb5\x2f\xfd\na": 1, "BZ\na": 0} {
		told := 0
		s := stdin.New(iotest.OneByteReader(strings.NewReader(text)))
		s.Encoded = func(sources.Encoding) { told++ }
		in := sourcetest.NewIntake(10)
		if err := s.Run(t.Context(), in); err != nil || told != want || len(in.Lines()) != 2 {
			t.Errorf("%q: told %d times, want %d; lines %q, error %v", text, told, want, in.Lines(), err)
		}
	}
}

func TestAnIdlePipeDoesNotDelayTheEnd(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close() // lets the abandoned read end
	if _, err := w.WriteString("a\n"); err != nil {
		t.Fatal(err)
	}
	in := sourcetest.NewIntake(10)
	ctx, cancel := contextAfterFirstLine(t, in)
	defer cancel()
	if err := stdin.New(r).Run(ctx, in); err != nil {
		t.Errorf("got %v, want no error", err)
	}
	if got, want := in.Lines(), []string{"a"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := w.WriteString("late\n"); err != nil {
		t.Fatal(err)
	}
	w.Close()
	time.Sleep(time.Millisecond)
	if got, want := in.Lines(), []string{"a"}; !slices.Equal(got, want) {
		t.Errorf("after the end: got %q, want %q", got, want)
	}
}
