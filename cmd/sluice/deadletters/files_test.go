package deadletters

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// read lists what a reader finds: records by number and original, damages by place and text.
func read(t *testing.T, stdin io.Reader, names ...string) string {
	t.Helper()
	var b strings.Builder
	f := Files{Names: names, Stdin: stdin, Damaged: func(d *Damage) { fmt.Fprintf(&b, "%d! %v; ", d.Line, d.Err) }}
	if err := f.Each(func(r *Record) error {
		fmt.Fprintf(&b, "%d %d %s; ", r.Number, r.Line, r.Original)
		return nil
	}); err != nil {
		fmt.Fprintf(&b, "failed: %v", err)
	}
	return b.String()
}

func TestFilesOfDeadLettersAreReadLineByLine(t *testing.T) {
	a, b := unread("a", noon), unread("b", noon)
	for _, tc := range []struct{ name, text, want string }{
		{"every line is a record", a + "\n" + b + "\n", "1 1 a; 2 2 b; "},
		{"an empty file has none", "", ""},
		{"blank lines keep their numbers", "\n" + a + "\n \n" + b + "\n", "2 2 a; 4 4 b; "},
		{"line ends of Windows are line ends", a + "\r\n" + b + "\r\n", "1 1 a; 2 2 b; "},
		{"a record without a line end is whole", a + "\n" + b, "1 1 a; 2 2 b; "},
		{"a line that breaks off is told", a + "\n" + b[:20], "1 1 a; 2! the file ends within it; it may still be under way; "},
		{"what is not JSON is told, and the rest goes on", "x\n" + b + "\n", "1! not JSON at byte 1: invalid character 'x' looking for beginning of value; 2 2 b; "},
		{"JSON of another kind is told", `{"rule_title":"A"}` + "\n[]\n" + b + "\n", "1! original_event is missing; 2! json: cannot unmarshal array into Go value of type struct; 3 3 b; "},
		{"a record without a time is told", `{"original_event":"a","error":"e","stage":"parse"}` + "\n", "1! timestamp is missing; "},
		{"a record without a stage is told", `{"original_event":"a","error":"e","timestamp":"2026-03-01T12:00:00Z","stage":""}` + "\n", "1! stage is missing; "},
		{"unknown members are for later releases", strings.Replace(a, "{", `{"new":1,`, 1) + "\n", "1 1 a; "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := read(t, nil, fileOf(t, strings.TrimSuffix(tc.text, "\n")))
			if tc.text == "" || !strings.HasSuffix(tc.text, "\n") {
				got = read(t, strings.NewReader(tc.text), Stdin)
			}
			if i, j := strings.Index(got, "type struct"), strings.Index(got, "; 3 3"); i > 0 {
				got = got[:i+len("type struct")] + got[j:]
			}
			same(t, tc.text, got, tc.want)
		})
	}
}

func TestSeveralFilesAreCountedThrough(t *testing.T) {
	one, two := fileOf(t, unread("a", noon), unread("b", noon)), fileOf(t, unread("c", noon))
	same(t, "numbers", read(t, strings.NewReader(unread("d", noon)), one, Stdin, two), "1 1 a; 2 2 b; 3 1 d; 4 1 c; ")
}

func TestCompressedFilesAreReadAsWhatTheyHold(t *testing.T) {
	var b bytes.Buffer
	for _, part := range []string{unread("a", noon) + "\n", unread("b", noon) + "\n"} { // two members, as appending makes
		z := gzip.NewWriter(&b)
		_, _ = io.WriteString(z, part)
		_ = z.Close()
	}
	same(t, "records", read(t, bytes.NewReader(b.Bytes()), Stdin), "1 1 a; 2 2 b; ")
	broken := read(t, bytes.NewReader(b.Bytes()[:b.Len()-6]), Stdin)
	if !strings.Contains(broken, "failed: -: after line 2: inflate gzip: it ends too early") {
		t.Errorf("a file that breaks off reads %q", broken)
	}
}

func TestFilesOfOtherEncodingsAreTold(t *testing.T) {
	for _, tc := range []struct{ name, head, want string }{
		{"zstd", "\x28\xb5\x2f\xfd\x04\x00", "failed: -: it is zstd, which is not read: send it through zstd -dc FILE"},
		{"bzip2", "BZh91AY&SY\x00", "failed: -: it is bzip2, which is not read: send it through bzip2 -dc FILE"},
		{"gzip that is none", "\x1f\x8bxxxxxxxxxxxxxxxx", "failed: -: inflate gzip: gzip: invalid header"},
		{"gzip that ends with its mark", "\x1f\x8b", "failed: -: inflate gzip: it ends too early"},
	} {
		t.Run(tc.name, func(t *testing.T) { same(t, "what is told", read(t, strings.NewReader(tc.head), Stdin), tc.want) })
	}
}

func TestALineWithoutEndIsNotHeld(t *testing.T) {
	text := io.MultiReader(strings.NewReader(unread("a", noon)+"\n"), io.LimitReader(letters{}, maxLine+1<<20), strings.NewReader("\n"+unread("b", noon)+"\n"))
	same(t, "records", read(t, text, Stdin), "1 1 a; 2! longer than 64 MiB; 3 3 b; ")
}

// letters is a text without end.
type letters struct{}

func (letters) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

func TestWhatIsAppendedMeanwhileIsNotRead(t *testing.T) {
	path := fileOf(t, unread("a", noon))
	n := 0
	f := Files{Names: []string{path}}
	if err := f.Each(func(*Record) error {
		n++
		appendTo(t, path, unread("again", noon)+"\n")
		return nil
	}); err != nil || n != 1 {
		t.Errorf("%d records and %v, want the one of the beginning", n, err)
	}
}

func TestFilesThatCannotBeReadAreToldBeforeTheFirstIs(t *testing.T) {
	dir := t.TempDir()
	f := Files{Names: []string{fileOf(t), dir, dir + "/none", Stdin}}
	err := f.Check()
	contains(t, err, dir+" is a directory; name the files in it")
	contains(t, err, "open "+dir+"/none: no such file or directory")
}

func TestFilters(t *testing.T) {
	r := Record{Error: "sink delivery failure: I/O error: Disk full", Stage: "delivery", Sink: "file-2", Time: noon}
	for _, tc := range []struct {
		name string
		f    Filter
		want bool
	}{
		{"an empty filter accepts", Filter{}, true},
		{"any of the sinks", Filter{Sinks: []string{"x", "file-2"}}, true},
		{"a name that only begins like the sink", Filter{Sinks: []string{"file"}}, false},
		{"any of the stages", Filter{Stages: []string{"parse", "delivery"}}, true},
		{"another stage", Filter{Stages: []string{"parse"}}, false},
		{"part of the error, in any case", Filter{Error: "disk FULL"}, true},
		{"another error", Filter{Error: "refused"}, false},
		{"the first instant", Filter{Since: noon}, true},
		{"before the first instant", Filter{Since: noon.Add(time.Nanosecond)}, false},
		{"the end is out", Filter{Until: noon}, false},
		{"before the end", Filter{Until: noon.Add(time.Nanosecond)}, true},
		{"all must hold", Filter{Sinks: []string{"file-2"}, Stages: []string{"parse"}}, false},
	} {
		same(t, tc.name, tc.f.Accepts(&r), tc.want)
	}
}

func TestTimesOfFilters(t *testing.T) {
	for text, want := range map[string]time.Time{
		"2026-03-01T12:00:00Z": noon, "2026-03-01T13:00:00+01:00": noon, "2h": noon.Add(-2 * time.Hour), "1h 30m": noon.Add(-90 * time.Minute),
	} {
		got, err := ParseTime(text, noon)
		if err != nil || !got.Equal(want) {
			t.Errorf("%q: got %v and %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "yesterday", "2026-03-01", "-2h", "5"} {
		_, err := ParseTime(text, noon)
		contains(t, err, "is neither a time (2026-03-01T10:00:00Z) nor a span before now (such as 2h or 30m)")
	}
	contains(t, CheckStages([]string{"parse", "deliver"}), `"deliver" is no stage (ingest, parse, `)
	if err := CheckStages(Stages()); err != nil {
		t.Error(err)
	}
}

func TestFindTellsWhyThereIsNoSuchRecord(t *testing.T) {
	path := fileOf(t, unread("a", noon), "", "x", unread("b", noon))
	for number, want := range map[int]string{
		1: "", 4: "", 2: "there is no dead letter 2: the line is blank", 3: path + ":3: no dead letter: not JSON at byte 1", 9: "there is no dead letter 9: the last one is 4",
	} {
		r, err := Find(&Files{Names: []string{path}}, number)
		if want != "" {
			contains(t, err, want)
		} else if err != nil || r.Number != number {
			t.Errorf("%d: %v and %v", number, r, err)
		}
	}
	_, err := Find(&Files{Names: []string{fileOf(t)}}, 1)
	contains(t, err, "there is none at all")
}

func TestListsCanBeReadAgain(t *testing.T) {
	in := undelivered("file", noon, "A", "B")
	var first, second []byte
	for _, step := range []struct {
		text string
		to   *[]byte
	}{{in, &first}, {"", &second}} {
		text := step.text
		if text == "" {
			text = string(first)
		}
		f := Files{Names: []string{Stdin}, Stdin: strings.NewReader(text)}
		l, err := List(&f, &Filter{}, func(r *Record) error { *step.to = r.AppendJSON(nil); return nil })
		if err != nil || l.String() != "1 dead letter: 1 delivery" {
			t.Errorf("%v and %v", l.String(), err)
		}
	}
	same(t, "the list of a list", string(second), string(first))
	same(t, "what stands in the file", string(first), `{"number":1,"file":"-","line":1,`+in[1:])
}

func FuzzEveryLineIsARecordOrDamage(f *testing.F) {
	f.Add([]byte(unread("a", noon) + "\n" + undelivered("file", noon, "A") + "\nx\n"))
	f.Add([]byte("{}\n\r\n[]\x1f\x8b"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) > 1 && raw[0] == 0x1f && raw[1] == 0x8b {
			t.Skip("compressed")
		}
		n := 0
		count := func() { n++ }
		fs := Files{Names: []string{Stdin}, Stdin: bytes.NewReader(raw), Damaged: func(*Damage) { count() }}
		err := fs.Each(func(r *Record) error {
			count()
			again, err := parse(r.AppendJSON(nil))
			if err != nil || again.Original != r.Original || again.Stage != r.Stage || again.Error != r.Error {
				return fmt.Errorf("read back as %+v with %w", again, err)
			}
			_, _ = r.results()
			if line, err := r.line(); err == nil && bytes.ContainsAny(line, "\r\n") {
				return errors.New("a line has a line break")
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		for l := range bytes.SplitSeq(raw, []byte("\n")) {
			if len(bytes.TrimSpace(l)) > 0 {
				want++
			}
		}
		if n != want {
			t.Errorf("%d outcomes of %d lines in %q", n, want, raw)
		}
	})
}
