package document

import (
	"strings"
	"testing"
)

func TestJSONIsReadLikeYAML(t *testing.T) {
	const text = `{"b":[1,-0,1.50,1e3,true,null,"x\u00e9\ud83d\ude00/"],"a":{},"1":12345678901234567890}`
	n, err := FromJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	docs, fault := Read([]byte(`{"b":[1,-0,1.50,1e3,true,null,"xé😀/"],"a":{},"1":12345678901234567890}`))
	if fault != nil || len(docs) != 1 {
		t.Fatal(fault)
	}
	if got, want := string(n.Canonical()), string(docs[0].Root.Canonical()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := n.Entries[0].Key.Text + n.Entries[1].Key.Text; got != "ba" {
		t.Errorf("got the keys in the order %s, want ba", got)
	}
	if n.size != docs[0].Root.size {
		t.Errorf("got the size %d, want %d", n.size, docs[0].Root.size)
	}
}

func TestJSONThatIsRefused(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", "", "EOF"},
		{"an open list", "[1", "EOF"},
		{"an open object", `{"a":1`, "EOF"},
		{"more behind the value", "1 2", "there is more behind the value"},
		{"a key twice", `{"a":1,"a":2}`, `key "a" stands twice`},
		{"nesting beyond reason", strings.Repeat("[", 1<<20), "nested deeper than 100 levels"},
	} {
		if _, err := FromJSON([]byte(tc.text)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %s", tc.name, err, tc.want)
		}
	}
}
