package incident

import (
	"hash/fnv"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph"
)

func TestIDsOfGroups(t *testing.T) {
	for _, tc := range []struct{ name, by, result, id string }{
		{"a command line", "match.CommandLine", "rule-1 high CommandLine=malware.exe", "f8bcd62a829b1126"},
		{"an address", "match.SourceIp", "rule-ssh high SourceIp=10.0.0.1", "383cec03aede7b76"},
		{"a value that is absent", "match.User", "rule-ssh high SourceIp=10.0.0.1", "64a8b826e39d0102"},
		{"null is absent", "match.User", "rule-ssh high User=null", "64a8b826e39d0102"},
		{"so is the text null", "match.User", `rule-ssh high User="null"`, "64a8b826e39d0102"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			same(t, "id", play(t, grouped(t, tc.by)).at(0, tc.result), tc.id)
		})
	}
}

func TestGroups(t *testing.T) {
	t.Run("results of all rules without the value share an incident", func(t *testing.T) {
		s := play(t, grouped(t, "match.User"))
		same(t, "first", s.at(0, "rule-ssh high SourceIp=1.1.1.1"), "64a8b826e39d0102")
		same(t, "second", s.at(0, "rule-b high"), "64a8b826e39d0102")
		s.to(31)
		if line := s.lines[0]; !strings.Contains(line, `"group_by":{"match.User":null}`) || !strings.Contains(line, `"rule_counts":{"rule-b":1,"rule-ssh":1}`) {
			t.Error(line)
		}
	})
	t.Run("numbers and their texts are one group, with the type of the first", func(t *testing.T) {
		s := play(t, grouped(t, "match.Port", "rule"))
		same(t, "text", s.at(0, `rule-ssh high Port="443"`), s.at(0, "rule-ssh high Port=443"))
		s.at(0, "rule-b high Port=443")
		s.to(31)
		if len(s.lines) != 2 || !strings.Contains(strings.Join(s.lines, ""), `"group_by":{"match.Port":"443","rule":"rule-ssh"}`) ||
			!strings.Contains(strings.Join(s.lines, ""), `"group_by":{"match.Port":443,"rule":"rule-b"}`) {
			t.Errorf("%q", s.lines)
		}
	})
	t.Run("the id of a group returns", func(t *testing.T) {
		s := play(t, grouped(t, "match.SourceIp"))
		id := s.at(0, "rule-ssh high SourceIp=10.0.0.1")
		s.to(5000)
		same(t, "id", s.at(5000, "rule-ssh high SourceIp=10.0.0.1"), id)
	})
	t.Run("a selector that comes twice is shown once", func(t *testing.T) {
		s := play(t, grouped(t, "match.SourceIp", "match.SourceIp"))
		s.at(0, "rule-ssh high SourceIp=10.0.0.1")
		s.to(31)
		same(t, "times", strings.Count(s.lines[0], "match.SourceIp"), 1)
	})
	t.Run("what another list of selectors made has no new results", func(t *testing.T) {
		s := play(t, grouped(t, "match.SourceIp"))
		s.at(0, "rule-ssh high SourceIp=10.0.0.1")
		c := grouped(t, "match.User")
		s.store.Configure(c)
		s.at(10, "rule-ssh high SourceIp=10.0.0.1")
		c = graphed(t, "match.SourceIp")
		s.store.Configure(c)
		same(t, "in a graph", s.at(20, "rule-ssh high SourceIp=10.0.0.1"), "I1")
		s.to(4000)
		s.want(
			"30 "+ip1+" group_wait n=1 last=0 high", "40 64a8b826e39d0102 group_wait n=1 last=10 high", "50 I1 group_wait n=1 last=20 high",
			"3600 "+ip1+" resolved n=1 last=0 high", "3610 64a8b826e39d0102 resolved n=1 last=10 high", "3620 I1 resolved n=1 last=20 high",
		)
	})
}

// The separator in a value makes two groups look alike: their digests are the same.
func TestGroupsOfOneDigestHaveIDsOfTheirOwn(t *testing.T) {
	s := play(t, grouped(t, "match.A", "match.B"))
	first := s.at(0, `r high A="x" B="y\u001fmatch.B=z"`)
	second := s.at(0, `r high A="x\u001fmatch.B=y" B="z"`)
	if first == second || len(first) != 16 || len(second) != 16+1+8 || !strings.HasPrefix(second, first+"-") {
		t.Errorf("ids %s and %s", first, second)
	}
	same(t, "first again", s.at(1, `r high A="x" B="y\u001fmatch.B=z"`), first)
	same(t, "second again", s.at(1, `r high A="x\u001fmatch.B=y" B="z"`), second)
	same(t, "id behind two that are taken", len(s.store.another(first, s.store.all[1].by.key)), 16+1+16)
	ref, ok := s.store.Find(second)
	same(t, "found", ok && s.store.ID(ref) == second, true)
}

func TestTooManyIncidents(t *testing.T) {
	for _, c := range []Config{grouped(t, "match.SourceIp"), graphed(t, "match.SourceIp")} {
		t.Run(string(c.Mode), func(t *testing.T) {
			c.MaxOpen = 1
			store := New(c, numberedIDs())
			first, o := store.Assign(hit(t, "r high SourceIp=x"), 0)
			same(t, "refused of the first", o.Refused, 0)
			ref, o := store.Assign(hit(t, "r high SourceIp=y"), 0)
			same(t, "refused of the second", o.Refused, 1)
			same(t, "ref of the second", ref, Ref{})
			same(t, "id of the second", store.ID(ref), "")
			again, o := store.Assign(hit(t, "r high SourceIp=x"), 1)
			same(t, "refused of the first again", o.Refused, 0)
			same(t, "ref of the first again", again, first)
			open, _ := store.Counts()
			same(t, "open", open, 1)
			c.MaxOpen = 0
			store.Configure(c)
			if ref, _ = store.Assign(hit(t, "r high SourceIp=x"), 2); ref != first {
				t.Error("a lower cap evicts")
			}
		})
	}
}

func TestWhatIncidentsKeepOfResults(t *testing.T) {
	add := func(s *script, n int) {
		for range n {
			s.at(s.now, "rule-ssh high SourceIp=10.0.0.1")
		}
	}
	entry := func(s *script) *Entry {
		e, ok := s.store.Export().Find(ip1)
		if !ok {
			s.Fatal("no incident")
		}
		return e
	}
	t.Run("no more than the cap, and all are counted", func(t *testing.T) {
		c := grouped(t, "match.SourceIp")
		c.MaxResults = 1
		s := play(t, c)
		add(s, 3)
		e := entry(s)
		same(t, "kept", string(e.content.appendRefs(nil)), `[{"rule":"rule-ssh","level":"high"}]`)
		same(t, "counted", e.ResultCount(), 3)
		same(t, "mode", e.SampleMode(), HoldsRefs)
	})
	t.Run("nothing", func(t *testing.T) {
		c := grouped(t, "match.SourceIp")
		c.MaxResults = 0
		s := play(t, c)
		add(s, 1)
		line := string(entry(s).AppendSnapshot(nil))
		if !strings.Contains(line, `"refs":[],"sample_mode":"none","bundle_ready":false}`) {
			t.Error(line)
		}
	})
	t.Run("both kinds, when the setting has changed", func(t *testing.T) {
		c := grouped(t, "match.SourceIp")
		s := play(t, c)
		add(s, 1)
		c.Include = Results
		s.store.Configure(c)
		add(s, 1)
		e := entry(s)
		same(t, "mode", e.SampleMode(), HoldsMixed)
		same(t, "results", len(e.Results()), 1)
		same(t, "refs", len(e.content.samples.refs), 1)
		s.to(31)
		if line := s.lines[0]; !strings.Contains(line, `"refs":[{"rule":"rule-ssh","level":"high"}],"results":[{"rule_title":`) {
			t.Error(line)
		}
	})
	t.Run("results have no events, and no incident_id yet", func(t *testing.T) {
		c := grouped(t, "event.k")
		c.Include = Results
		s := play(t, c)
		r := hit(t, "rule-ssh high SourceIp=10.0.0.1")
		r.Detection.Extra = extra(`{"k":"v"}`)
		ref, _ := s.store.Assign(r, 0)
		e, _ := s.store.Export().Find(s.store.ID(ref))
		if line := string(e.Results()[0]); strings.Contains(line, `"event"`) || strings.Contains(line, "incident_id") {
			t.Error(line)
		}
		same(t, "group", string(e.content.by.object), `{"event.k":"v"}`)
		same(t, "event of the result", string(r.Detection.Extra.Event), `{"k":"v"}`)
	})
}

func TestLevelsRise(t *testing.T) {
	s := play(t, grouped(t, "match.SourceIp"))
	levels := []string{"-", "informational", "low", "critical", "high", "-"}
	want := []string{"", "informational", "low", "critical", "critical", "critical"}
	for i, level := range levels {
		s.at(0, "r "+level+" SourceIp=10.0.0.1")
		same(t, "level behind "+level, s.store.all[0].level.String(), want[i])
	}
}

func TestManyRules(t *testing.T) {
	s := play(t, grouped(t, "match.SourceIp"))
	want := make(map[string]int64)
	for i := range 300 {
		rule := "rule-" + string(rune('a'+i%26)) + string(rune('a'+i%7))
		ref, _ := s.store.Assign(hit(t, rule+" high SourceIp=10.0.0.1"), 0)
		s.store.Refresh(ref, rule, 0)
		want[rule] += 2
		if i%50 == 0 {
			s.store.Export()
		}
	}
	e, _ := s.store.Export().Find(ip1)
	got := e.RuleCounts()
	same(t, "rules", len(got), len(want))
	for rule, n := range want {
		same(t, rule, got[rule], n)
	}
}

func TestDigestIsFNV1a(t *testing.T) {
	h := fnv.New64a()
	h.Write([]byte("\x1fmatch.SourceIp=10.0.0.1"))
	if got := h.Sum64(); got != 0x383cec03aede7b76 {
		t.Errorf("%x", got)
	}
}

var _ graph.Record = (*Record)(nil)
