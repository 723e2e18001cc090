package sources

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/sources/fetch"
)

func TestWhichValuesAreTheSame(t *testing.T) {
	for _, tc := range []struct {
		name, a, b string
		want       bool
	}{
		{"one value", `1`, `1`, true},
		{"two", `1`, `2`, false},
		{"nothing and null", ``, `null`, true},
		{"null and an empty list", `null`, `[]`, false},
		{"nothing and an empty text", ``, `""`, false},
		{"keys in another order", `{"a":1,"b":[{"c":2,"d":3}]}`, `{"b":[{"d":3,"c":2}],"a":1}`, true},
		{"elements in another order", `["a","b"]`, `["b","a"]`, false},
		{"other values under the keys", `{"a":1,"b":2}`, `{"b":1,"a":2}`, false},
		{"escapes", `{"\u0061":"\/"}`, `{"a":"/"}`, true},
		{"escapes without an object", `["\u0061"]`, `["a"]`, true},
		{"a number that is written otherwise", `{"a":1.0}`, `{"a":1}`, false},
		{"digits that a double does not have", `{"a":12345678901234567890}`, `{"a":12345678901234567891}`, false},
		{"a number and a text", `{"a":1}`, `{"a":"1"}`, false},
		{"a key that is there twice", `{"a":1,"a":2}`, `{"a":2,"a":1}`, false},
		{"texts that look like structure", `{"a":["b,c"]}`, `{"a":["b","c"]}`, false},
		{"empty containers", `[{},[]]`, `[[],{}]`, false},
	} {
		if (identityOf([]byte(tc.a)) == identityOf([]byte(tc.b))) != tc.want {
			t.Errorf("%s: %q and %q: want the same: %t", tc.name, tc.a, tc.b, tc.want)
		}
	}
}

func TestTheSameValueInAnotherSpellingChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &slowTable{rows: map[string]string{}}
		w := newWorld()
		w.values["f"] = `{"a":["x"],"b":{"c":1,"d":2}}`
		w.values["p"] = "pending"
		nats := func(d *fetch.Declaration) { d.Type = fetch.NATS }
		d := spawn(t, w, []*fetch.Declaration{declared("f", every(10*time.Second)), declared("p", nats, refreshed(fetch.Push))}, func(o *Options) { o.Rows = table })
		d.begin()
		w.messages <- `{"a":1,"b":2}`
		time.Sleep(5 * time.Second)
		writes := table.written()
		w.set("f", `{"b":{"d":2,"c":1},"a":["x"]}`)
		w.messages <- `{"b":2,"a":1}`
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if got := d.took(); fmt.Sprint(got) != "[[p]]" || d.value("f") != `{"a":["x"],"b":{"c":1,"d":2}}` || d.value("p") != `{"a":1,"b":2}` {
			t.Errorf("%v have changed, the values are %s and %s", got, d.value("f"), d.value("p"))
		}
		if n := table.written(); n != writes {
			t.Errorf("%d rows are written for values that are stored", n-writes)
		}
		w.set("f", `{"b":{"d":2,"c":1},"a":["y"]}`)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if got := d.took(); fmt.Sprint(got) != "[[p] [f]]" {
			t.Errorf("%v have changed, want f behind another value", got)
		}
	})
}

func (s *slowTable) written() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes
}

func BenchmarkIdentity(b *testing.B) {
	list := `["` + strings.Repeat(`198.51.100.7","`, 100_000) + `"]`
	var objects strings.Builder
	objects.WriteByte('[')
	for i := range 20_000 {
		if i > 0 {
			objects.WriteByte(',')
		}
		fmt.Fprintf(&objects, `{"value":"198.51.100.7","id":%d,"tags":["a","b"],"seen":{"first":1,"last":2}}`, i)
	}
	objects.WriteByte(']')
	for _, tc := range []struct{ name, json string }{{"a list of texts", list}, {"a list of objects", objects.String()}} {
		b.Run(tc.name, func(b *testing.B) {
			b.SetBytes(int64(len(tc.json)))
			b.ReportAllocs()
			for b.Loop() {
				identityOf([]byte(tc.json))
			}
		})
	}
}
