package match

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// kept is what the state keeps of texts: as a key or tuple, and of the first one as a
// single counted text.
func kept(t *testing.T, secret *Secret, texts ...string) (parts, counted string) {
	t.Helper()
	x := NewExtractor(spec())
	var record []byte
	for i, text := range texts {
		record = x.appendPart(record, i, []byte(text))
	}
	parts = string(secret.Seal(nil, record))
	if !ValidKey(parts, len(texts)) {
		t.Fatalf("no valid key is kept of texts of %d bytes", len(texts[0]))
	}
	record = []byte(texts[0])
	if marked(record) {
		record = x.appendPart([]byte{longMark}, 0, record)
	}
	counted = string(secret.SealText(nil, record))
	// A chained update has the text as a part of the key below.
	first, ok := Part(parts, 0)
	if chained := string(AppendCounted(nil, []byte(first))); !ok || chained != counted {
		t.Fatalf("a text of %d bytes is counted as %q, chained as %q", len(texts[0]), counted, chained)
	}
	return parts, counted
}

func TestWhatIsKeptOfTextsIsEqualWhenTheyAre(t *testing.T) {
	secret := NewSecret()
	long := strings.Repeat("x", 100_000)
	texts := map[string]string{
		"empty": "", "short": "ann", "the mark": "\xff", "of the mark's byte": "\xffann", "short of the mark": "ann\xff",
		"just not long": long[:maxText], "just long": long[:maxText+1], "long": long, "longer": long + "x",
		"long with another end": long[1:] + "y", "long with another middle": long[:50_000] + "y" + long[50_001:],
		"long with another begin": "y" + long[1:], "long, not in UTF-8": strings.Repeat("\xff", 5000), "longer, not in UTF-8": strings.Repeat("\xff", 5001),
	}
	for name, text := range texts {
		parts, counted := kept(t, &secret, text)
		texts[name+", spelled as its part"], texts[name+", spelled as its count"] = parts, counted
	}
	for a, textA := range texts {
		partsA, countedA := kept(t, &secret, textA)
		if n := max(len(partsA), len(countedA)); n > maxText+4 || len(textA) > maxText && n > 160 {
			t.Errorf("%s: %d bytes are kept of %d", a, n, len(textA))
		}
		for b, textB := range texts {
			partsB, countedB := kept(t, &secret, textB)
			if equal := textA == textB; (partsA == partsB) != equal || (countedA == countedB) != equal {
				t.Errorf("%s and %s: equal keys %v, equal counts %v, want %v", a, b, partsA == partsB, countedA == countedB, equal)
			}
			pairA, _ := kept(t, &secret, textA, textB)
			if pairB, _ := kept(t, &secret, textB, textA); (pairA == pairB) != (textA == textB) {
				t.Errorf("%s and %s: in either order equal: %v", a, b, pairA == pairB)
			}
		}
	}
}

func TestAnotherSecretKeepsOtherHashes(t *testing.T) {
	a, b := NewSecret(), NewSecret()
	long, _ := kept(t, &a, strings.Repeat("x", 2000))
	if other, _ := kept(t, &b, strings.Repeat("x", 2000)); other == long {
		t.Error("the hash does not depend on the secret")
	}
}

func TestLongTextsAreShownByTheirBeginning(t *testing.T) {
	secret := NewSecret()
	for _, tc := range []struct{ name, text, want string }{
		{"in one byte", strings.Repeat("x", 2000), strings.Repeat("x", 128) + "… (2000 bytes)"},
		{"a character is not cut", "x" + strings.Repeat("é", 1000), "x" + strings.Repeat("é", 63) + "… (2001 bytes)"},
		{"nor one of four bytes", "xyz" + strings.Repeat("😀", 500), "xyz" + strings.Repeat("😀", 31) + "… (2003 bytes)"},
		{"what is no text stays", strings.Repeat("\x80", 2000), strings.Repeat("\x80", 128) + "… (2000 bytes)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			parts, counted := kept(t, &secret, tc.text)
			got, ok, rest := Cut(parts)
			if !ok || rest != "" || got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if Counted(counted) != got {
				t.Errorf("counted it is shown as %q", Counted(counted))
			}
		})
	}
}

// The event costs by its size, not by how many correlations it meets.
func TestRecordsHaveNoLongTexts(t *testing.T) {
	s := &Spec{Fields: []string{"k", "v"}, Keys: [][]int{{0}}}
	for i := range 100 {
		s.Feeds = append(s.Feeds, Feed{Correlation: i, Kind: []Kind{Text, Tuple}[i%2], Values: []int{1, 0}[:1+i%2]})
	}
	s.Rules = []Rule{{To: 100, Chain: []int{0, 1}}}
	s.Seal()
	x := NewExtractor(s)
	long := fmt.Sprintf("%q", strings.Repeat("x", 100_000))
	record := x.Append(nil, []int{0}, 1, fields{0: long, 1: long})
	if len(record) > 100*512 {
		t.Errorf("the record has %d bytes", len(record))
	}
	if len(x.digests) != 2 {
		t.Errorf("%d digests were computed, want one for each field", len(x.digests))
	}
	var r Record
	if _, err := r.Open(s, record); err != nil || !r.Long {
		t.Fatalf("%v, long %v", err, r.Long)
	}
	if record := x.Append(nil, []int{0}, 1, fields{0: `"ann"`, 1: long[:1000] + `"`}); len(x.digests) != 0 || bytes.Contains(record, []byte("…")) {
		t.Error("an ordinary event has digests")
	}
}

func TestALongFieldOfAChainKeepsItsNumber(t *testing.T) {
	s := &Spec{Fields: []string{"n"}, Keys: [][]int{{}}, Feeds: []Feed{{}}, Rules: []Rule{{To: 1, Chain: []int{0}}}}
	for _, tc := range []struct {
		name, value string
		want        float64
		ok          bool
	}{
		{"a text that spells a number", `"1.` + strings.Repeat("0", 2000) + `"`, 1, true},
		{"a number", "1." + strings.Repeat("0", 2000), 1, true},
		{"a text", `"` + strings.Repeat("x", 2000) + `"`, 0, false},
		{"a short one", `"12"`, 12, true},
		{"a short text", `"x"`, 0, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var r Record
			if _, err := r.Open(s, NewExtractor(s).Append(nil, []int{0}, 1, fields{0: tc.value})); err != nil {
				t.Fatal(err)
			}
			f, ok := r.Field(0)
			if got, is := f.Numeric(); !ok || is != tc.ok || is && got != tc.want {
				t.Errorf("got %v, %v of %+v, want %v, %v", got, is, f, tc.want, tc.ok)
			}
		})
	}
}
