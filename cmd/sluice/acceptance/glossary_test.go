package acceptance

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The glossary explains each term once, and the words that a reader meets first are in it.
func TestTheGlossaryHasEachTermOnce(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(root, "docs", "glossary.md"))
	if err != nil {
		t.Fatal(err)
	}
	terms := make(map[string]bool)
	for _, m := range regexp.MustCompile(`(?m)^\| \*\*([^*]+)\*\* \| (.+) \|$`).FindAllStringSubmatch(string(raw), -1) {
		if terms[m[1]] {
			t.Errorf("%s stands there twice", m[1])
		}
		if terms[m[1]] = true; !strings.HasSuffix(m[2], ".") {
			t.Errorf("%s: %q is no sentence", m[1], m[2])
		}
	}
	for _, want := range []string{
		"event", "rule", "detection", "correlation", "filter", "pipeline", "log source", "entity", "input", "sink", "dead letter",
		"result", "keyword", "reload", "drain", "stage", "batch", "group", "window",
	} {
		if !terms[want] {
			t.Errorf("there is no %s", want)
		}
	}
}

// Each page is reached from the list in the README, in the order of its readers.
func TestEveryPageIsListedForItsReader(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(raw), "\n## Where to read on\n")
	at := 0
	for _, reader := range []string{"\n| try ", "\n| write rules ", "\n| operate ", "\n| change "} {
		i := strings.Index(list, reader)
		if i < at {
			t.Errorf("reader %q stands at %d, want behind %d", reader, i, at)
		}
		at = i
	}
	for _, page := range pages(t) {
		if strings.HasPrefix(page, "docs/") && !strings.HasPrefix(page, "docs/adr/") && !strings.Contains(list, "]("+page+")") {
			t.Errorf("the README does not list %s", page)
		}
	}
}
