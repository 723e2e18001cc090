package sources

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
)

// readTexts reads a stream to its end and shows what each text is.
func readTexts(t *testing.T, r Reader) (texts []string, err error) {
	t.Helper()
	defer r.Close()
	var run []Text
	for {
		run, err = r.Next(run[:0])
		for _, text := range run {
			s := string(text.Bytes)
			if text.Oversize {
				s = fmt.Sprintf("oversize %d", len(text.Bytes))
			}
			if !text.Value {
				s = "line " + s
			}
			texts = append(texts, s)
			text.Buffer.Release(1)
		}
		if err != nil {
			return texts, err
		}
		if len(run) == 0 {
			t.Fatal("a run without a text and without an error")
		}
	}
}

// waysToRead are readers of one text that deliver it differently.
func waysToRead(text string) map[string]io.Reader {
	ways := map[string]io.Reader{
		"whole":      strings.NewReader(text),
		"with error": iotest.DataErrReader(strings.NewReader(text)),
		"halves":     iotest.HalfReader(strings.NewReader(text)),
	}
	if len(text) < 1000 {
		ways["bytes"] = iotest.OneByteReader(strings.NewReader(text))
	}
	return ways
}

func TestValuesOfAStream(t *testing.T) {
	longest := `"` + strings.Repeat("x", MaxLine-2) + `"`
	longer := `{"a":` + longest + `}`
	for _, tc := range []struct {
		name string
		in   string
		want []string
	}{
		{"an empty stream has none", "", nil},
		{"values on lines", "{\"a\":1}\r\n{\"a\":2}\n", []string{`{"a":1}`, `{"a":2}`}},
		{"line breaks in a value become blanks", "[\n {\r\n\"a\":\n1} ]", []string{`{  "a": 1}`}},
		{"a byte order mark at the start is removed", "\ufeff[1]", []string{"1"}},
		{"white space at the end of a value is not part of it", "[1 \n , 2\t]", []string{"1", "2"}},
		{"the end of the stream ends the last value", `[{"a":1},{"a":2`, []string{`{"a":1}`, `{"a":2`}},
		{"exactly the limit is a value", "[" + longest + `,{"a":1}]`, []string{longest, `{"a":1}`}},
		{"one byte more is oversize, its neighbours are not touched", `[{"a":1},"x` + longest[1:] + `,2]`, []string{`{"a":1}`, "oversize 8192", "2"}},
		{"a far longer value is discarded up to its end", `[{"b":[` + longest + "," + longest + "," + longest + `]},{"a":1}]`, []string{"oversize 8192", `{"a":1}`}},
		{"an oversize value at the end", `[1,` + longer + `]`, []string{"1", "oversize 8192"}},
		{"an array that is cut off behind a comma", "[{\"a\":1},\n", []string{`{"a":1}`, "["}},
		{"an array that is cut off behind a value", `[{"a":1}`, []string{`{"a":1}`, "["}},
		{"an array that is cut off at its beginning", `{"a":1}[`, []string{`{"a":1}`, "["}},
		{"a value that is cut off stands for its array", `[{"a":1},"x`, []string{`{"a":1}`, `"x`}},
		{"white space does not make a cut-off beginning whole", `{"n":1,"x":"` + strings.Repeat(" ", MaxLine) + `"}7`, []string{"oversize 8192", "7"}},
		{"a value of line breaks that is too long", `{"n":1` + strings.Repeat("\n", 2*MaxLine) + `}`, []string{"oversize 8192"}},
		{"two oversize values in a row", longer + longer + "7", []string{"oversize 8192", "oversize 8192", "7"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for how, src := range waysToRead(tc.in) {
				got, err := readTexts(t, new(Buffers).NewValueReader(src))
				if !errors.Is(err, io.EOF) {
					t.Errorf("read as %s: error %v, want EOF", how, err)
				}
				if !slices.Equal(got, tc.want) {
					t.Errorf("read as %s: got %.60q, want %.60q", how, got, tc.want)
				}
			}
		})
	}
}

func TestLinesAreCountedOnDemand(t *testing.T) {
	long := strings.Repeat("x", 3*MaxLine)
	stream := "\ufeff\n\nb\r\n" + long + "\n\n" + strings.Repeat("y\n", 70_000) + "z"
	array := "\n[\n{\n\"a\":1\n},\n\n{\"a\":\"" + long + "\"}, {\"a\":3}\n" + strings.Repeat(",{\"b\":\n4}", 70_000) + "\n,"
	for _, tc := range []struct {
		name   string
		reader interface {
			Reader
			CountLines()
		}
		first []int
		last  int
	}{
		{"lines", new(Buffers).NewReader(strings.NewReader(stream)), []int{3, 4, 6, 7}, 70_006},
		{"values", new(Buffers).NewValueReader(strings.NewReader(array)), []int{3, 7, 7, 8}, 70_009},
		{"lines that are found to be some", new(Buffers).NewSniffingReader(iotest.HalfReader(strings.NewReader(stream)), 0), []int{3, 4, 6, 7}, 70_006},
		{"values that are found to be some", new(Buffers).NewSniffingReader(strings.NewReader(array), 0), []int{3, 7, 7, 8}, 70_009},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.reader.CountLines()
			var got []int
			for texts, err := tc.reader.Next(nil); err == nil; texts, err = tc.reader.Next(nil) {
				for _, text := range texts {
					got = append(got, text.Line)
					text.Buffer.Release(1)
				}
			}
			tc.reader.Close()
			if len(got) < 5 || !slices.Equal(got[:4], tc.first) || got[len(got)-1] != tc.last {
				t.Errorf("%d texts begin on lines %v ... %d, want %v ... %d", len(got), got[:min(4, len(got))], got[len(got)-1], tc.first, tc.last)
			}
		})
	}
}

func TestABrokenStreamGivesNoPartOfAValue(t *testing.T) {
	broken := errors.New("connection reset")
	got, err := readTexts(t, new(Buffers).NewValueReader(io.MultiReader(strings.NewReader(`[{"a":1},{"a":`), iotest.ErrReader(broken))))
	if want := []string{`{"a":1}`}; !slices.Equal(got, want) || !errors.Is(err, broken) {
		t.Errorf("got %q and %v, want %q and %v", got, err, want, broken)
	}
}

func TestAValueDoesNotWaitForTheNext(t *testing.T) {
	in, out := io.Pipe()
	t.Cleanup(func() { in.Close() })
	go out.Write([]byte(`[{"a":1}`))
	run, err := new(Buffers).NewValueReader(in).Next(nil)
	if err != nil || len(run) != 1 {
		t.Errorf("got %d values and %v, want the one that is whole", len(run), err)
	}
}

func TestExcerptsOfValuesAreOneLine(t *testing.T) {
	r := new(Buffers).NewValueReader(strings.NewReader("{\n\"a\":\"" + strings.Repeat("x\n", MaxLine) + "\"}"))
	run, err := r.Next(nil)
	if err != nil || len(run) != 1 || !run[0].Oversize || bytes.ContainsAny(run[0].Bytes, "\r\n") {
		t.Errorf("got %.60v and %v, want an excerpt without line breaks", run, err)
	}
}

func TestAReaderFindsOutWhatItReads(t *testing.T) {
	for _, tc := range []struct {
		name string
		in   string
		want []string
	}{
		{"an empty stream", "", nil},
		{"blank lines alone", "\n \n", nil},
		{"lines of objects", "{\"a\":1}\n{\"a\":2}\n", []string{`line {"a":1}`, `line {"a":2}`}},
		{"an array on a line is a line", "[{\"a\":1},{\"a\":2}]\n7", []string{`line [{"a":1},{"a":2}]`, "line 7"}},
		{"an indented array behind blank lines", "\ufeff\n \n  [\n  {\"a\":1},\n  {\"a\":2}\n]\n", []string{`{"a":1}`, `{"a":2}`}},
		{"text stays as it is", "  hello\n[x]\n", []string{"line   hello", "line [x]"}},
		{"objects that are cut off are lines", "{\"a\":\n{\"a\":1}\n", []string{`line {"a":`, `line {"a":1}`}},
		{"a longer line of blanks than any", strings.Repeat(" ", 2*MaxLine) + "\n{\n}", []string{"line oversize 8192", "line {", "line }"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for how, src := range waysToRead(tc.in) {
				got, err := readTexts(t, new(Buffers).NewSniffingReader(src, time.Second))
				if !errors.Is(err, io.EOF) {
					t.Errorf("read as %s: error %v, want EOF", how, err)
				}
				if !slices.Equal(got, tc.want) {
					t.Errorf("read as %s: got %.60q, want %.60q", how, got, tc.want)
				}
			}
		})
	}
}

// A live stream whose first line is broken is not held back: it is lines when nothing can
// make its beginning JSON any more, or when it pauses behind a line that is an event of
// its own. Where no line is one, there is nothing to wait for in vain.
func TestALiveStreamIsNotHeldBack(t *testing.T) {
	const patience = time.Second
	for _, tc := range []struct {
		name     string
		patience time.Duration
		pieces   []string // each comes after an hour
		want     []string // with the time they are read at
	}{
		{"a string that is cut off", patience, []string{"{\"a\":\"x\n"}, []string{"1h0m0s line {\"a\":\"x"}},
		{"an object that is cut off behind a value", patience, []string{"{\"a\":1\n", "{\"a\":2}\n", "{\"a\":3}\n"}, []string{
			"2h0m0s line {\"a\":1", "2h0m0s line {\"a\":2}", "3h0m0s line {\"a\":3}",
		}},
		{"an object that is cut off in front of a value", patience, []string{"{\"a\":\n", "{\"a\":2}\n", "{\"a\":3}\n"}, []string{
			"2h0m1s line {\"a\":", "2h0m1s line {\"a\":2}", "3h0m0s line {\"a\":3}",
		}},
		{"a line that comes in two pieces behind the pause", patience, []string{"{\"a\":\n{\"a\":2}\n", "{\"a\":", "3}\n"}, []string{
			"1h0m1s line {\"a\":", "1h0m1s line {\"a\":2}", "3h0m0s line {\"a\":3}",
		}},
		{"an indented object may take its time", patience, []string{"{\n", "\"a\":\n", "1\n", "}\n"}, []string{"4h0m0s { \"a\": 1 }"}},
		{"so may an array", patience, []string{"[\n", "{\"a\":1},\n", "{\"a\":2}\n", "]\n"}, []string{"2h0m0s {\"a\":1}", "3h0m0s {\"a\":2}"}},
		{"without patience nothing is put off", 0, []string{"{\"a\":\n{\"b\":2}\n", "}\n"}, []string{"2h0m0s {\"a\": {\"b\":2} }"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in, out := io.Pipe()
				go func() {
					for _, piece := range tc.pieces {
						time.Sleep(time.Hour)
						_, _ = io.WriteString(out, piece)
					}
					time.Sleep(time.Hour)
					_ = out.Close()
				}()
				begun := time.Now()
				var got []string
				r := new(Buffers).NewSniffingReader(in, tc.patience)
				defer r.Close()
				for {
					run, err := r.Next(nil)
					if err != nil {
						break
					}
					for _, text := range run {
						s := string(text.Bytes)
						if !text.Value {
							s = "line " + s
						}
						got = append(got, time.Since(begun).String()+" "+s)
						text.Buffer.Release(1)
					}
				}
				if !slices.Equal(got, tc.want) {
					t.Errorf("got %q, want %q", got, tc.want)
				}
			})
		})
	}
}

func TestWhatWasReadAheadComesBeforeTheError(t *testing.T) {
	broken := errors.New("connection reset")
	got, err := readTexts(t, new(Buffers).NewSniffingReader(io.MultiReader(strings.NewReader("{\"a\":1}\n{\"a\":2}\n"), iotest.ErrReader(broken)), time.Second))
	if want := []string{`line {"a":1}`, `line {"a":2}`}; !slices.Equal(got, want) || !errors.Is(err, broken) {
		t.Errorf("got %q and %v, want %q and %v", got, err, want, broken)
	}
}

// However a stream of values arrives, the values are the same.
func FuzzValueReader(f *testing.F) {
	for _, s := range []string{"[{\"a\":1},\n{\"b\":\"]\\\"\"}]", "\ufeff1 2", "[x y , {]", "\xef\xbb{", "[a\nb,\"\\\n\",\"\r\"]"} {
		f.Add([]byte(s), uint8(1))
		f.Add([]byte(s), uint8(3))
	}
	f.Fuzz(func(t *testing.T, in []byte, step uint8) {
		want, _ := readTexts(t, new(Buffers).NewValueReader(bytes.NewReader(in)))
		got, err := readTexts(t, new(Buffers).NewValueReader(stepReader{bytes.NewReader(in), 1 + int(step%7)}))
		if !errors.Is(err, io.EOF) || !slices.Equal(got, want) {
			t.Errorf("got %q and %v, want %q", got, err, want)
		}
		if strings.ContainsAny(strings.Join(got, ""), "\r\n") {
			t.Errorf("%q have line breaks", got)
		}
	})
}

// The values of an array cost little more than the lines they could stand on.
func BenchmarkValues(b *testing.B) {
	event := `{"EventID":1,"Image":"C:\\Windows\\System32\\cmd.exe","CommandLine":"` + strings.Repeat("x", 200) + `"}`
	stream := []byte("[" + strings.Repeat(event+",", 9_999) + event + "]")
	buffers := new(Buffers)
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	var run []Text
	for b.Loop() {
		r := buffers.NewValueReader(bytes.NewReader(stream))
		for err := error(nil); err == nil; {
			run, err = r.Next(run[:0])
			for _, text := range run {
				text.Buffer.Release(1)
			}
		}
		r.Close()
	}
}
