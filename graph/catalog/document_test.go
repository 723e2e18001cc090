package catalog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/ast"
)

// Texts stand in several blocks, and a question may ask for those of any.
func TestDocumentsAreFoundInEveryBlock(t *testing.T) {
	var rules []*ast.Rule
	for i := range 3*perBlock + 5 {
		r := rule(fmt.Sprint("title ", i), fmt.Sprint("id-", i), "1.yml")
		r.Description = fmt.Sprint("says ", i)
		rules = append(rules, r)
	}
	c := New(rules, []*ast.Correlation{{Meta: ast.Meta{Title: "upper", Tags: []string{"a"}}}}, same, nil)
	var keys []string
	for i := range rules {
		keys = append(keys, fmt.Sprint("id-", i))
	}
	for i, found := range c.Documents(append(keys, "upper", "none")...) {
		if i == "upper" {
			if len(found) != 1 || found[0].Kind != Correlation || found[0].Tags[0] != "a" {
				t.Errorf("got %+v", found)
			}
			continue
		}
		if want := strings.Replace(i, "id-", "says ", 1); len(found) != 1 || found[0].Description != want {
			t.Errorf("%s: got %+v, want %s", i, found, want)
		}
	}
	if n := len(c.Documents("none")); n != 0 {
		t.Errorf("got %d keys", n)
	}
	if n := len(New(nil, nil, same, nil).Documents("none")); n != 0 {
		t.Errorf("got %d keys of no rules", n)
	}
}

func TestTextsAreKeptCompressed(t *testing.T) {
	const each = 64 << 10
	var rules []*ast.Rule
	for i := range 200 {
		r := rule(fmt.Sprint(i), "", "1.yml")
		r.Description = strings.Repeat("x", each)
		rules = append(rules, r)
	}
	c := New(rules, nil, same, nil)
	held := 0
	for _, b := range c.texts.blocks {
		held += len(b)
	}
	if held > 200*each/20 {
		t.Errorf("%d bytes are held of texts that are all the same", held)
	}
	if got := c.Documents("7")["7"]; len(got) != 1 || len(got[0].Description) != each {
		t.Errorf("got %d documents", len(got))
	}
}
