package audit

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestARecordLooksTheSameEverywhere(t *testing.T) {
	digest := strings.Repeat("ab", 32)
	for _, tc := range []struct {
		name string
		r    Record
		want string
	}{
		{
			"with a token and no body",
			Record{42, 1714500000, "POST", "/api/v1/silences/{id}", "op", nil, 200},
			`{"id":42,"ts":1714500000,"method":"POST","endpoint":"/api/v1/silences/{id}","token":"op","payload_digest":null,"status":200}`,
		},
		{
			"without a token, with a body",
			Record{1, -1, "PATCH", "/api/v1/actors/{name}", "", &digest, 413},
			`{"id":1,"ts":-1,"method":"PATCH","endpoint":"/api/v1/actors/{name}","payload_digest":"` + digest + `","status":413}`,
		},
		{
			"the name of a token as it is written",
			Record{1, 1, "POST", "/x", "a<b>&\"c", nil, 200},
			`{"id":1,"ts":1,"method":"POST","endpoint":"/x","token":"a<b>&\"c","payload_digest":null,"status":200}`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, err := tc.r.line(); err != nil || string(got) != tc.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, tc.want)
			}
		})
	}
}

func TestPagesShowTheNewestFirst(t *testing.T) {
	r := open(t, t.TempDir(), limits(100, 1<<62))
	r.add(-50, 100, 200, 300, 300)
	at := func(limit, offset int, since, until any) Query {
		q := All()
		q.Limit, q.Offset = limit, offset
		if since != nil {
			q.Since = int64(since.(int))
		}
		if until != nil {
			q.Until = int64(until.(int))
		}
		return q
	}
	for _, tc := range []struct {
		name  string
		q     Query
		count int
		want  string
	}{
		{"everything", at(100, 0, nil, nil), 5, "[5 4 3 2 1]"},
		{"a page counts all of it", at(2, 0, nil, nil), 5, "[5 4]"},
		{"the next page", at(2, 2, nil, nil), 5, "[3 2]"},
		{"the last page", at(2, 4, nil, nil), 5, "[1]"},
		{"behind the end", at(2, 9, nil, nil), 5, "[]"},
		{"a page of none counts", at(0, 0, nil, nil), 5, "[]"},
		{"from a time on", at(1, 0, 200, nil), 3, "[5]"},
		{"up to a time", at(9, 0, nil, 200), 3, "[3 2 1]"},
		{"both bounds are included", at(9, 0, 100, 200), 2, "[3 2]"},
		{"offset counts what is selected", at(9, 1, 100, 200), 2, "[2]"},
		{"negative times", at(9, 0, -50, -50), 1, "[1]"},
		{"bounds that select nothing", at(9, 0, 301, 300), 0, "[]"},
		{"a selection without a page", at(0, 0, 100, nil), 4, "[]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := r.page(t, tc.q)
			if got := fmt.Sprint(idsOf(p)); got != tc.want || p.Count != tc.count {
				t.Errorf("ids %s of %d, want %s of %d", got, p.Count, tc.want, tc.count)
			}
			if raw, err := json.Marshal(p); err != nil || !strings.Contains(string(raw), `"entries":[`) {
				t.Errorf("a page is %s, %v, want a list of entries", raw, err)
			}
		})
	}
}

func TestThreeRowsAndABoundGiveTheNewest(t *testing.T) {
	r := open(t, t.TempDir(), limits(100, 1<<62))
	r.add(100, 200, 300)
	p := r.page(t, Query{Limit: 1, Since: 200, Until: 1 << 62})
	if p.Count != 2 || len(p.Entries) != 1 || p.Entries[0].TS != 300 {
		t.Errorf("got %+v, want a count of 2 and the entry of 300", p)
	}
}

func TestADamagedRowIsAnError(t *testing.T) {
	r := open(t, t.TempDir())
	r.add(r.now)
	if err := r.store.Table(Name).Put(keyOf(2, r.now), []byte("{")); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Page(Query{Limit: 1, Since: 0, Until: 1 << 62}); err == nil || !strings.HasPrefix(err.Error(), "read audit trail: ") {
		t.Errorf("got %v, want an error", err)
	}
}
