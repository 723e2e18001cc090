package incident

import (
	"math"
	"strings"
	"testing"
)

const ip1 = "383cec03aede7b76" // of match.SourceIp = 10.0.0.1

func TestAnIncidentWaitsTellsNewsAndEnds(t *testing.T) {
	s := play(t, grouped(t, "match.SourceIp"))
	same(t, "id", s.at(0, "rule-ssh high SourceIp=10.0.0.1"), ip1)
	same(t, "id", s.at(12, "rule-b critical SourceIp=10.0.0.1"), ip1)
	s.at(100, "rule-ssh high SourceIp=10.0.0.1")
	s.at(200, "rule-ssh high SourceIp=10.0.0.1")
	s.at(700, "rule-ssh high SourceIp=10.0.0.1")
	s.to(5000)
	s.want(
		"30 "+ip1+" group_wait n=2 last=12 critical",
		"330 "+ip1+" group_interval n=4 last=200 critical",
		"700 "+ip1+" group_interval n=5 last=700 critical",
		"4300 "+ip1+" resolved n=5 last=700 critical",
	)
}

func TestAnIncidentIsRepeated(t *testing.T) {
	c := grouped(t, "match.SourceIp")
	c.Repeat = 600
	s := play(t, c)
	s.at(0, "rule-ssh high SourceIp=10.0.0.1")
	s.at(100, "rule-ssh high SourceIp=10.0.0.1")
	s.to(5000)
	s.want(
		"30 "+ip1+" group_wait n=1 last=0 high",
		"330 "+ip1+" group_interval n=2 last=100 high",
		"930 "+ip1+" repeat n=2 last=100 high",
		"1530 "+ip1+" repeat n=2 last=100 high",
		"2130 "+ip1+" repeat n=2 last=100 high",
		"2730 "+ip1+" repeat n=2 last=100 high",
		"3330 "+ip1+" repeat n=2 last=100 high",
		"3700 "+ip1+" resolved n=2 last=100 high",
	)
}

func TestRepetitionsDoNotPostponeNews(t *testing.T) {
	c := grouped(t, "match.SourceIp")
	c.Wait, c.Repeat, c.Resolve = 0, 60, 400
	s := play(t, c)
	s.at(0, "rule-ssh high SourceIp=10.0.0.1")
	s.at(10, "rule-ssh high SourceIp=10.0.0.1")
	s.to(1000)
	s.want(
		"0 "+ip1+" group_wait n=1 last=0 high",
		"60 "+ip1+" repeat n=2 last=10 high",
		"120 "+ip1+" repeat n=2 last=10 high",
		"180 "+ip1+" repeat n=2 last=10 high",
		"240 "+ip1+" repeat n=2 last=10 high",
		"300 "+ip1+" group_interval n=2 last=10 high",
		"360 "+ip1+" repeat n=2 last=10 high",
		"410 "+ip1+" resolved n=2 last=10 high",
	)
}

func TestAResultJoinsTwoIncidents(t *testing.T) {
	c := graphed(t, "match.SourceIp", "match.User")
	c.Resolve = 600
	s := play(t, c)
	same(t, "A", s.at(0, "rule-ssh high SourceIp=10.0.0.1 User=alice"), "I1")
	same(t, "B", s.at(10, "rule-ssh high SourceIp=10.0.0.2 User=bob"), "I2")
	same(t, "C", s.at(50, "rule-ssh high SourceIp=10.0.0.2 User=alice"), "I1")
	if _, ok := s.store.Export().Find("I2"); ok {
		t.Error("I2 is still there")
	}
	s.to(2000)
	s.want(
		"30 I1 group_wait n=1 last=0 high",
		"40 I2 group_wait n=1 last=10 high",
		"340 I1 group_interval n=3 last=50 high",
		"650 I1 resolved n=3 last=50 high",
	)
	for _, part := range []string{`"first_seen":0,`, `"entities":{"match.SourceIp":["10.0.0.1","10.0.0.2"],"match.User":["alice","bob"]}`} {
		if !strings.Contains(s.lines[2], part) {
			t.Errorf("%s has no %s", s.lines[2], part)
		}
	}
}

// An alert names the incident from the first result on, and all further results fold.
func TestFoldsKeepAnIncidentAliveAndTellNothing(t *testing.T) {
	c := grouped(t, "match.SourceIp")
	c.Resolve = 600
	s := play(t, c)
	ref, _ := s.store.Assign(hit(t, "rule-ssh high SourceIp=10.0.0.1"), 0)
	s.store.Name(ref)
	for at := int64(60); at <= 1200; at += 60 {
		s.to(at)
		s.store.Refresh(ref, "rule-ssh", at)
	}
	s.to(4800)
	s.want("30 " + ip1 + " group_wait n=1 last=0 high")
	s.store.Unname(ref)
	s.to(5000)
	s.want("4800 " + ip1 + " resolved n=21 last=1200 high")
	same(t, "id afterwards", s.store.ID(ref), "")
	s.store.Refresh(ref, "rule-ssh", 5000)
	s.store.Name(ref)
	s.store.Unname(ref)
}

func TestTheFirstRecordComesBeforeTheEnd(t *testing.T) {
	c := grouped(t, "match.SourceIp")
	c.Wait, c.Resolve = 60, 20
	s := play(t, c)
	s.at(0, "rule-ssh high SourceIp=10.0.0.1")
	s.to(100)
	s.want("60 "+ip1+" group_wait n=1 last=0 high", "61 "+ip1+" resolved n=1 last=0 high")
}

func TestMutedRecordsAreHeld(t *testing.T) {
	t.Run("the first record comes when the silence ends", func(t *testing.T) {
		s := play(t, grouped(t, "match.SourceIp"))
		s.muted = func([]byte) bool { return s.now >= 10 && s.now < 100 }
		s.at(0, "rule-ssh high SourceIp=10.0.0.1")
		s.to(200)
		s.want("100 " + ip1 + " group_wait n=1 last=0 high")
	})
	t.Run("nothing is ever said of what stays silenced", func(t *testing.T) {
		c := grouped(t, "match.SourceIp")
		c.Resolve = 60
		s := play(t, c)
		s.muted = func([]byte) bool { return s.now >= 10 }
		s.at(0, "rule-ssh high SourceIp=10.0.0.1")
		s.to(60)
		open, _ := s.store.Counts()
		same(t, "open at 59", open, 1)
		s.to(61)
		open, batching := s.store.Counts()
		same(t, "open and batching at 60", open+batching, 0)
		s.to(200)
		s.want()
	})
	t.Run("an alert keeps what is silenced", func(t *testing.T) {
		c := grouped(t, "match.SourceIp")
		c.Resolve = 60
		s := play(t, c)
		s.muted = func([]byte) bool { return s.now < 500 }
		ref, _ := s.store.Assign(hit(t, "rule-ssh high SourceIp=10.0.0.1"), 0)
		s.store.Name(ref)
		s.to(600)
		s.want("500 " + ip1 + " group_wait n=1 last=0 high")
	})
	t.Run("news and repetitions stay due, and the end is never held", func(t *testing.T) {
		c := grouped(t, "match.SourceIp")
		c.Repeat, c.Resolve = 400, 1000
		s := play(t, c)
		s.muted = func([]byte) bool { return s.now >= 300 && s.now < 360 || s.now >= 700 && s.now < 780 || s.now >= 1000 }
		s.at(0, "rule-ssh high SourceIp=10.0.0.1")
		s.at(40, "rule-ssh high SourceIp=10.0.0.1")
		s.to(2000)
		s.want(
			"30 "+ip1+" group_wait n=1 last=0 high",
			"360 "+ip1+" group_interval n=2 last=40 high",
			"780 "+ip1+" repeat n=2 last=40 high", // due at 760
			"1040 "+ip1+" resolved n=2 last=40 high",
		)
	})
	t.Run("the newest result decides, not one that is kept", func(t *testing.T) {
		c := grouped(t, "match.SourceIp")
		c.MaxResults = 1
		s := play(t, c)
		var seen []string
		s.muted = func(sample []byte) bool { seen = append(seen, string(sample)); return false }
		s.at(0, "rule-ssh high SourceIp=10.0.0.1")
		s.at(1, "rule-b low SourceIp=10.0.0.1")
		s.to(40)
		if len(seen) != 1 || !strings.Contains(seen[0], `"rule_id":"rule-b"`) {
			t.Errorf("asked about %q", seen)
		}
	})
}

func TestRecordsOfATickComeByAge(t *testing.T) {
	c := graphed(t, "match.SourceIp")
	c.Wait = 100
	s := play(t, c)
	for i, at := range []int64{0, 0, 0, 5, 5} {
		s.at(at, "rule-ssh high SourceIp=10.0.0."+string(rune('1'+i)))
	}
	c.Wait = 10
	s.to(50)
	s.store.Configure(c)
	s.to(51)
	s.want(
		"50 I1 group_wait n=1 last=0 high", "50 I2 group_wait n=1 last=0 high", "50 I3 group_wait n=1 last=0 high",
		"50 I4 group_wait n=1 last=5 high", "50 I5 group_wait n=1 last=5 high",
	)
}

func TestTheLastTickTellsOfEveryIncident(t *testing.T) {
	s := play(t, grouped(t, "match.SourceIp"))
	s.at(0, "rule-ssh high SourceIp=10.0.0.1")
	s.at(35, "rule-ssh high SourceIp=10.0.0.2")
	s.at(35, "rule-mute high SourceIp=10.0.0.3")
	s.got = nil
	s.store.Last(s.now, func(line []byte) bool { return strings.Contains(string(line), "rule-mute") }, s.emit)
	s.want("35 383ceb03aede79c3 group_wait n=1 last=35 high")
	s.store.Last(s.now, loud, s.emit)
	s.want("35 383cea03aede7810 group_wait n=1 last=35 high")
}

func TestClosingEndsWhatWasReported(t *testing.T) {
	s := play(t, grouped(t, "match.SourceIp"))
	s.at(0, "rule-ssh high SourceIp=10.0.0.1")
	s.at(35, "rule-ssh high SourceIp=10.0.0.2")
	s.got = nil
	s.store.Close(s.emit)
	s.want("35 " + ip1 + " resolved n=1 last=0 high")
	open, batching := s.store.Counts()
	same(t, "open and batching", open+batching, 0)
	same(t, "listed", s.store.Export().Len(), 0)
	s.to(5000)
	s.want()
	same(t, "a new one", s.at(5000, "rule-ssh high SourceIp=10.0.0.1"), ip1)
	s.to(5031)
	s.want("5030 " + ip1 + " group_wait n=1 last=5000 high")
}

func TestTheClockMayGoBackAndForward(t *testing.T) {
	const day = 86_400
	s := play(t, grouped(t, "match.SourceIp"))
	s.to(1)
	s.now = 2 * day
	ref, _ := s.store.Assign(hit(t, "rule-ssh high SourceIp=10.0.0.1"), s.now)
	s.to(2*day + 31)
	s.want("172830 " + ip1 + " group_wait n=1 last=172800 high")
	s.now -= day // back: the next result is the last sign of life
	s.store.Assign(hit(t, "rule-ssh high SourceIp=10.0.0.1"), s.now)
	s.to(s.now + 3601)
	s.want("90031 " + ip1 + " resolved n=2 last=86431 high")
	same(t, "id", s.store.ID(ref), "")
	s.store.Assign(hit(t, "rule-ssh high SourceIp=10.0.0.1"), s.now)
	s.now += 3 * day // forward: at once what is due, one record at each tick
	s.to(s.now + 2)
	s.want("349232 "+ip1+" group_wait n=1 last=90032 high", "349233 "+ip1+" resolved n=1 last=90032 high")
}

func TestSecondsAtTheEndOfTime(t *testing.T) {
	c := grouped(t, "match.SourceIp")
	c.Wait, c.Resolve = 0, math.MaxInt64
	s := play(t, c)
	s.at(5, "rule-ssh high SourceIp=10.0.0.1")
	s.to(100)
	s.want("5 " + ip1 + " group_wait n=1 last=5 high")
}

func TestChangedTimesHoldForOpenIncidents(t *testing.T) {
	c := grouped(t, "match.SourceIp")
	s := play(t, c)
	s.at(0, "rule-ssh high SourceIp=10.0.0.1")
	s.at(40, "rule-ssh high SourceIp=10.0.0.1")
	c.Interval, c.Repeat, c.Resolve = 50, 10, 100
	s.store.Configure(c)
	s.to(1000)
	s.want(
		"30 "+ip1+" group_wait n=1 last=0 high",
		"40 "+ip1+" repeat n=2 last=40 high",
		"50 "+ip1+" repeat n=2 last=40 high", "60 "+ip1+" repeat n=2 last=40 high", "70 "+ip1+" repeat n=2 last=40 high",
		"80 "+ip1+" group_interval n=2 last=40 high",
		"90 "+ip1+" repeat n=2 last=40 high", "100 "+ip1+" repeat n=2 last=40 high", "110 "+ip1+" repeat n=2 last=40 high",
		"120 "+ip1+" repeat n=2 last=40 high", "130 "+ip1+" repeat n=2 last=40 high",
		"140 "+ip1+" resolved n=2 last=40 high",
	)
}

func TestNextIsTheTickThatHasSomethingToDo(t *testing.T) {
	s := play(t, grouped(t, "match.SourceIp"))
	next := func(want int64) {
		t.Helper()
		if at, ok := s.store.Next(); !ok || at != want {
			t.Errorf("next is %d, %v, want %d", at, ok, want)
		}
	}
	if at, ok := s.store.Next(); ok {
		t.Errorf("an empty store has something to do at %d", at)
	}
	s.at(0, "rule-ssh high SourceIp=10.0.0.1")
	next(30)
	s.to(31)
	next(3600)
	s.at(100, "rule-ssh high SourceIp=10.0.0.1")
	next(330)
	s.to(331)
	next(3600) // a little early is allowed: the result at 100 moved the end
	s.to(3601)
	next(3700)
	s.to(3701)
	if at, ok := s.store.Next(); ok {
		t.Errorf("an empty store has something to do at %d", at)
	}
}
