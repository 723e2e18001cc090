package incident

import (
	"bytes"
	"strings"
	"testing"
)

func saved(t *testing.T, s *Store) string {
	t.Helper()
	var out bytes.Buffer
	if err := s.Export().Encode(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestWhatRanOutDuringTheDowntimeIsReported(t *testing.T) {
	restart := func(t *testing.T, opened, at int64) *script {
		t.Helper()
		s := play(t, grouped(t, "match.SourceIp"))
		s.at(0, "rule-ssh high SourceIp=10.0.0.1")
		s.to(opened)
		s.store, s.now, s.got = reopened(t, s.store, s.store.config, numberedIDs()), at, nil
		return s
	}
	t.Run("one that goes on takes the next result", func(t *testing.T) {
		s := restart(t, 100, 200)
		same(t, "id", s.at(250, "rule-ssh high SourceIp=10.0.0.1"), ip1)
		s.to(400)
		s.want("330 " + ip1 + " group_interval n=2 last=250 high")
	})
	t.Run("one that has ended is resolved at the first tick", func(t *testing.T) {
		s := restart(t, 100, 3700)
		s.to(3800)
		s.want("3700 " + ip1 + " resolved n=1 last=0 high")
	})
	t.Run("one that nobody has heard of is reported first", func(t *testing.T) {
		s := restart(t, 10, 3700)
		s.to(3800)
		s.want("3700 "+ip1+" group_wait n=1 last=0 high", "3701 "+ip1+" resolved n=1 last=0 high")
	})
	t.Run("one that waits is reported at the first tick", func(t *testing.T) {
		s := restart(t, 10, 500)
		s.to(600)
		s.want("500 " + ip1 + " group_wait n=1 last=0 high")
	})
}

func TestAnAlertFindsItsIncidentAgain(t *testing.T) {
	s := play(t, graphed(t, "match.A"))
	s.at(0, "r high A=1")
	s.store = reopened(t, s.store, s.store.config, numberedIDs())
	ref, ok := s.store.Find("I1")
	if !ok {
		t.Fatal("not found")
	}
	if other, ok := s.store.Find("I7"); ok || other != (Ref{}) {
		t.Error("one that never was is found")
	}
	s.store.Name(ref)
	s.to(5000)
	s.want("30 I1 group_wait n=1 last=0 high")
	s.store.Unname(ref)
	s.to(5001)
	s.want("5000 I1 resolved n=1 last=0 high")
}

// Selectors that are no longer configured keep their values, behind the others.
func TestValuesOfOldSelectorsAreRestored(t *testing.T) {
	s := play(t, graphed(t, "match.A", "match.B"))
	s.at(0, `r high A="x\u001f" B=2`)
	s.store = reopened(t, s.store, graphed(t, "match.C", "match.B"), func() string { return "I2" })
	same(t, "by the selector that stayed", s.at(1, "r high B=2 C=3"), "I1")
	same(t, "by the selector that went", s.at(1, `r high A="x\u001f"`), "-")
	s.to(31)
	if !strings.Contains(s.lines[0], `"entities":{"match.C":["3"],"match.B":["2"],"match.A":["x\u001f"]}`) {
		t.Error(s.lines[0])
	}
	s.store.check(t)
}

func TestWhatCannotBeRestored(t *testing.T) {
	s := play(t, graphed(t, "match.A"))
	s.at(0, "r high A=1")
	s.at(0, "r high A=2")
	good := saved(t, s.store)
	g := play(t, grouped(t, "match.A"))
	g.at(0, "r high A=1")
	group := strings.Trim(saved(t, g.store), "[]")
	for _, tc := range []struct{ name, array, want string }{
		{"no list", `{}`, "want a list"},
		{"cut off", good[:len(good)-20], "incident 1: unexpected EOF"},
		{"without its end", good[:len(good)-1], "incident 2: EOF"},
		{"of another type", strings.Replace(good, `"first_seen":0`, `"first_seen":"x"`, 1), "incident 0: json: cannot unmarshal"},
		{"an unknown level", strings.Replace(good, `"max_level":"high"`, `"max_level":"huge"`, 1), "incident 0: unknown level"},
		{"an id that comes twice", strings.Replace(good, `"I2"`, `"I1"`, 1), "incident 1: the id 'I1' is missing or comes twice"},
		{"no id", strings.Replace(good, `"I2"`, `""`, 1), "incident 1: the id '' is missing"},
		{"a value that comes twice", strings.Replace(good, `"entities":{"match.A":["2"]}`, `"entities":{"match.A":["1"]}`, 1), "the value '1' of 'I2' leads to two incidents"},
		{"no newest result", strings.Replace(good, `"newest":{`, `"last":{`, 1), "incident 0: 'I1' has no newest result"},
		{"a group that comes twice", "[" + group + "," + strings.Replace(group, `"id":"`, `"id":"x`, 1) + "]", "the group of 'x"},
		{"a group without values", "[" + strings.Replace(group, `"group_by":{`, `"grouped":{`, 1) + "]", "incident 0: the group of"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			store := New(graphed(t, "match.A"), numberedIDs())
			n, err := store.Restore([]byte(tc.array), 0)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("error %v, want %s", err, tc.want)
			}
			same(t, "restored", n, 0)
			open, batching := store.Counts()
			same(t, "open and batching", open+batching, 0)
			store.check(t)
			if ref, _ := store.Assign(hit(t, "r high A=1"), 0); store.ID(ref) != "I1" {
				t.Error("the store is of no use")
			}
		})
	}
	store := New(graphed(t, "match.A"), numberedIDs())
	if n, err := store.Restore(nil, 0); n != 0 || err != nil {
		t.Error(n, err)
	}
}
