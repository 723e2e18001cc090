package engine

import "testing"

func TestReferencesComparedAsSets(t *testing.T) {
	for _, tc := range []struct {
		name, item, event string
		want              uint64
	}{
		{"objects are equal whatever the order of their keys", `{A|fieldref: B}`, `{"A":{"x":1,"y":[true,null]},"B":{"y":[true,null],"x":1}}`, 1},
		{"numbers in them by their text", `{A|fieldref: B}`, `{"A":{"x":1.0},"B":{"x":1}}`, 1},
		{"not by their type", `{A|fieldref: B}`, `{"A":{"x":"1"},"B":{"x":1}}`, 0},
		{"texts in them by what they spell", `{A|fieldref: B}`, `{"A":{"\u0078":"\u0061"},"B":{"x":"a"}}`, 1},
		{"and by case", `{A|fieldref: B}`, `{"A":{"x":"a"},"B":{"x":"A"}}`, 0},
		{"arrays in them by their order", `{A|fieldref: B}`, `{"A":{"x":[1,2]},"B":{"x":[2,1]}}`, 0},
		{"a repeated key is an array", `{A|fieldref: B}`, `{"A":{"x":1,"x":2},"B":{"x":[1,2]}}`, 1},
		{"one more key is another object", `{A|fieldref: B}`, `{"A":{"x":1},"B":{"x":1,"y":null}}`, 0},
		{"an object among many", `{A|fieldref: B}`, `{"A":[{"x":1},{"x":2}],"B":[3,[{"x":2}]]}`, 1},
		{"objects have no parts", `{A|fieldref|contains: B}`, `{"A":{"x":1},"B":{"x":1}}`, 0},
		{"null is equal to null, in arrays too", `{A|fieldref: B}`, `{"A":[1,null],"B":[[null]]}`, 1},
		{"and to nothing else", `{A|fieldref: B}`, `{"A":null,"B":["null","",0,{}]}`, 0},
		{"null and a text beside it", `{A|fieldref: B}`, `{"A":[null,"x"],"B":"X"}`, 1},
		{"several values of a name", `{A.b|fieldref|endswith: B}`, `{"A":[{"b":"xy"},{"b":"z"}],"B":["a","b","c","d","e","Y"]}`, 1},
		{"an empty text is part of any", `{A|fieldref|contains: B}`, `{"A":"x","B":["1","2","3","4","5",""]}`, 1},
		{"an empty array is there and equal to nothing", `{A|fieldref|neq: B}`, `{"A":"x","B":[]}`, 1},
		{"a template over an empty array", `{A|expand|neq: '%B%x'}`, `{"A":"x","B":[]}`, 0},
		{"a template with texts around arrays", `{A|expand: 'C:\%B%\%C%.exe'}`, `{"A":"c:\\bob\\EVIL.EXE","B":["ann","Bob"],"C":["good","evil"]}`, 1},
		{"one text of each array, not two", `{A|expand: '%B%%B%'}`, `{"A":"aba","B":["a","b"]}`, 0},
		{"the same name twice", `{A|expand: '%B%%B%'}`, `{"A":"ab","B":["a","b"]}`, 1},
		{"a template by case", `{A|expand|cased: '%B%-%C%'}`, `{"A":"a-B","B":["a","x"],"C":["b","y"]}`, 0},
		{"texts outside ASCII", `{A|expand|contains: '%B%é%C%'}`, `{"A":"xÄÉöx","B":["ä","u"],"C":["Ö","u"]}`, 1},
	} {
		set := setOf(t, "title: T\ndetection:\n  sel: "+tc.item+"\n  condition: sel\n", Options{})
		if got := costOf(t, set, []byte(tc.event)); got.results != tc.want {
			t.Errorf("%s: %s on %s gives %d results, want %d", tc.name, tc.item, tc.event, got.results, tc.want)
		}
	}
}
