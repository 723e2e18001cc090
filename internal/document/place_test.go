package document

import (
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

func TestTextThatBeginsLikeAnAliasIsHinted(t *testing.T) {
	for text, want := range map[string]bool{"a: [*:read]": true, "a: [&:read]": true, "a: [": false} {
		var n yaml.Node
		err := yaml.Unmarshal([]byte(text), &n)
		if err == nil {
			t.Fatalf("%s: no error", text)
		}
		if _, got := Place(err); strings.Contains(got, "has to be quoted") != want {
			t.Errorf("%s: got %s, hint wanted: %v", text, got, want)
		}
	}
}
