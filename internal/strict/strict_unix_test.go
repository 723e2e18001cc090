//go:build unix

package strict

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/document"
	"github.com/sluicehq/sluice/internal/suggest"
	"github.com/sluicehq/sluice/sigma/timespan"
)

type section struct {
	Name    string            `yaml:"name"`
	Count   int               `yaml:"count"`
	On      bool              `yaml:"on"`
	Wait    timespan.Duration `yaml:"wait"`
	List    []string          `yaml:"list"`
	Below   *section          `yaml:"below"`
	Maybe   *int              `yaml:"maybe"`
	Raw     *document.Node    `yaml:"raw"`
	Secret  string            `yaml:"-"`
	ignored string
}

func TestDecode(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		faults     string // joined by |
		check      func(s section) bool
	}{
		{"every type", "name: a\ncount: 3\n\"on\": true\nwait: 1m 30s\nlist: [x, y]\nmaybe: 0\nraw: {z: 1}\nbelow: {name: b}\n", "", func(s section) bool {
			return s.Name == "a" && s.Count == 3 && s.On && s.Wait.Std() == 90*time.Second && fmt.Sprint(s.List) == "[x y]" &&
				*s.Maybe == 0 && s.Raw.Get("z").Text == "1" && s.Below.Name == "b"
		}},
		{"what is absent or null stays", "name:\ncount: ~\nbelow: null\n", "", func(s section) bool { return s.Name == "default" && s.Count == 7 && s.Below == nil }},
		{"an unknown key", "nam: a\n", "1: unknown key 'nam' (did you mean 'name'?)", nil},
		{"an unknown key of a section", "below:\n  below:\n    zzz: 1\n", "3: unknown key 'below.below.zzz'", nil},
		{"what has no key cannot be set", "Secret: a\nignored: b\n", "1: unknown key 'Secret'|2: unknown key 'ignored'", nil},
		{"a number where text belongs", "name: 5\n", "1 name: field 'name': want text, got 5 (quotes make it text)", nil},
		{"text where a number belongs", "count: 5x\n", "1 count: field 'count': want an integer, got '5x'", nil},
		{"a fraction where an integer belongs", "count: 5.5\n", "1 count: field 'count': want an integer, got 5.5", nil},
		{"a number beyond all", "count: 99999999999999999999\n", "1 count: field 'count': want an integer, got 99999999999999999999", nil},
		{"text where a switch belongs", "\"on\": yes\n", "1 on: field 'on': want true or false, got 'yes'", nil},
		{"a text for a section", "below: a\n", "1 below: field 'below': want a mapping, got 'a'", nil},
		{"a text for a list, and an empty entry", "list: a\nbelow: {list: [a, ~]}\n", "1 list: field 'list': want a list, got 'a'|2 below.list: field 'below.list': an entry is empty", nil},
		{"a list for a single value", "wait: [1s]\n", "1 wait: field 'wait': want a single value, got a list", nil},
		{"a value of another grammar", "wait: 5\n", `1 wait: field 'wait': invalid duration "5": a unit is needed behind the number`, nil},
		{"a key that is no text", "1: a\n", "1: a key must be plain text", nil},
		{"every fault at once", "nam: a\ncount: b\n\nlist: {}\n", "1: unknown key 'nam' (did you mean 'name'?)|2 count: field 'count': want an integer, got 'b'|4 list: field 'list': want a list, got a mapping", nil},
		{"a list as the file", "- a\n", "1: want a mapping, got a list", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root, err := Read([]byte(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			s := section{Name: "default", Count: 7}
			_, faults := Decode(root, &s)
			var got []string
			for _, f := range faults {
				text := fmt.Sprintf("%d %s", f.Line, f.Key)
				text = strings.TrimRight(text, " ") + ": " + f.Error()
				var near *suggest.Error
				if errors.As(f, &near) && near.Suggestion != "" {
					text += " (" + near.Suggestion + ")"
				}
				got = append(got, text)
			}
			if text := strings.Join(got, "|"); text != tc.faults {
				t.Errorf("faults\n got %s\nwant %s", text, tc.faults)
			}
			if tc.check != nil && !tc.check(s) {
				t.Errorf("got %+v", s)
			}
			if s.Secret != "" || s.ignored != "" {
				t.Error("a field without a key is set")
			}
		})
	}
}

func TestLines(t *testing.T) {
	root, err := Read([]byte("name: a\nbelow:\n  name: b\n  below:\n    count: 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	var s section
	lines, _ := Decode(root, &s)
	for _, tc := range []struct {
		name string
		got  int
		want int
	}{
		{"a setting", lines.Of("below.name"), 3},
		{"one that is absent stands where its section does", lines.Of("below.below.name"), 4},
		{"one of no section", lines.Of("zzz"), 1},
		{"the one that a message names", lines.Named("below.below.count is too large", "below"), 5},
		{"the most precise of several", lines.Named("below.name and below.below.count", "below"), 5},
		{"a message names none of the section", lines.Named("name is wrong", "below"), 2},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: line %d, want %d", tc.name, tc.got, tc.want)
		}
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.yml", "a.yaml", ".c.yml", "d.txt", "big.yml"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("name: a\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "sub.yml"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "big.yml"), MaxFile+1); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.yml"), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := Files(dir)
	if got := strings.ReplaceAll(strings.Join(all, " "), dir+"/", ""); err != nil || got != "a.yaml b.yml big.yml pipe.yml" {
		t.Errorf("got %q, %v", got, err)
	}
	if one, err := Files(filepath.Join(dir, "d.txt")); err != nil || len(one) != 1 {
		t.Errorf("a file that is named: %v, %v", one, err)
	}
	if _, err := Files(filepath.Join(dir, "none")); err == nil || err.Error() != "no such file or directory" {
		t.Errorf("a path to nothing: %v", err)
	}
	for name, want := range map[string]string{
		"big.yml": "it is larger than 16 MiB", "pipe.yml": "it is no regular file", "sub.yml": "it is no regular file", "none": "no such file or directory",
	} {
		if _, err := ReadFile(filepath.Join(dir, name)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if root, err := ReadFile(filepath.Join(dir, "b.yml")); err != nil || root.Get("name") == nil {
		t.Errorf("a good file: %v, %v", root, err)
	}
}
