package alert

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph/alert/silence"
	"github.com/sluicehq/sluice/graph/selector"
)

// spec is a silence of results with a value.
func spec(sel, value string) silence.Spec {
	return silence.Spec{Matchers: []selector.Condition{{Selector: sel, Value: value}}}
}

// list are the silences as one text.
func (r *rig) list() string {
	r.tb.Helper()
	all, now, err := r.client.Silences(r.tb.Context())
	if err != nil {
		r.tb.Fatal(err)
	}
	var text []string
	for _, x := range all {
		text = append(text, fmt.Sprintf("%s:%s:%s", x.Origin, x.Matchers[0].Value, x.State(now)))
	}
	return strings.Join(text, " ")
}

func (r *rig) wantList(want string) {
	r.tb.Helper()
	if got := r.list(); got != want {
		r.tb.Errorf("silences %q, want %q", got, want)
	}
}

func (r *rig) add(s silence.Spec) string {
	r.tb.Helper()
	made, err := r.client.AddSilence(r.tb.Context(), s)
	if err != nil {
		r.tb.Fatal(err)
	}
	return made.ID
}

func stored(t *table) func(*Options) { return func(o *Options) { o.Rows, o.Kept = t, true } }

func TestASilenceIsStoredAndInForceBeforeTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := newTable()
		r := newRig(t, "{}", stored(rows)).spawn()
		id := r.add(spec("rule", "ssh"))
		if rows.len() != 1 {
			t.Errorf("%d rows, want one", rows.len())
		}
		r.put(detection("ssh", "", ".1"))
		r.put(detection("web", "", ".1"))
		r.wantPassed("web")
		r.wantList("api:ssh:active")
		until(time.Second)
		r.wantMetrics(map[string]float64{"silenced_total": 1, "silences_active": 1})
		for _, want := range []bool{true, false} {
			if found, err := r.client.DeleteSilence(t.Context(), id); found != want || err != nil {
				t.Errorf("deleted: %t, %v, want %t", found, err, want)
			}
		}
		r.wantList("")
		if rows.len() != 0 {
			t.Errorf("%d rows, want none", rows.len())
		}
		r.put(detection("ssh", "", ".1"))
		r.wantPassed("web ssh")
	})
}

func TestSilencesWorkWithoutAPipeline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := newTable()
		r := newRig(t, "", stored(rows)).spawn()
		s := spec("rule", "ssh")
		s.EndsAt = time.Now().Add(10 * time.Second).UTC().Format(time.RFC3339)
		r.add(s)
		r.add(spec("rule", "web"))
		r.put(detection("ssh", "", ".1"))
		r.wantPassed("ssh") // they mute nothing
		r.wantList("api:ssh:active api:web:active")
		until(12 * time.Second)
		r.wantList("api:web:active")
		if rows.len() != 1 {
			t.Errorf("%d rows, want that of the silence without an end", rows.len())
		}
		r = newRig(t, "silences: [{matchers: [{selector: rule, value: a}]}]", stored(rows))
		r.spawn()
		r.wantList("static:a:active api:web:active")
	})
}

func TestADatabaseThatRefusesToWriteChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := newTable()
		r := newRig(t, "{}", stored(rows)).spawn()
		id := r.add(spec("rule", "ssh"))
		rows.refuse(true)
		if _, err := r.client.AddSilence(t.Context(), spec("rule", "web")); !errors.Is(err, ErrNotStored) {
			t.Errorf("got %v, want that it is not stored", err)
		}
		if _, err := r.client.DeleteSilence(t.Context(), id); !errors.Is(err, ErrNotStored) {
			t.Errorf("got %v, want that it is not deleted", err)
		}
		for _, what := range []string{"silence not made, it cannot be stored", "silence not deleted, its row cannot be"} {
			if n := len(r.log.Matching(what, errRefused.Error())); n != 1 {
				t.Errorf("the log says %d times that %s, want once", n, what)
			}
		}
		r.wantList("api:ssh:active")
		r.put(detection("ssh", "", ".1"))
		r.put(detection("web", "", ".1"))
		r.wantPassed("web")
		rows.refuse(false)
		if found, err := r.client.DeleteSilence(t.Context(), id); !found || err != nil {
			t.Errorf("deleted: %t, %v", found, err)
		}
	})
}

func TestASlowDatabaseHoldsUpNothingButTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := newTable()
		r := newRig(t, "{}", stored(rows)).spawn()
		rows.waits = make(chan struct{})
		type answer struct {
			id  string
			err error
		}
		first, second := make(chan answer, 1), make(chan answer, 1)
		ask := func(value string, to chan<- answer) {
			made, err := r.client.AddSilence(context.Background(), spec("rule", value))
			to <- answer{made.ID, err}
		}
		go ask("ssh", first)
		synctest.Wait()
		go ask("web", second)
		synctest.Wait()
		r.put(detection("ssh", "", ".1"))
		r.wantPassed("ssh")
		r.wantList("")
		time.Sleep(6 * time.Second) // longer than anybody waits
		a := <-second
		if !errors.Is(a.err, mailbox.ErrTimeout) {
			t.Errorf("the second got %v, want that it waited too long", a.err)
		}
		close(rows.waits)
		if a = <-first; !errors.Is(a.err, mailbox.ErrTimeout) {
			t.Errorf("the first got %v, want that it waited too long", a.err)
		}
		r.wantList("")
		if rows.len() != 0 {
			t.Errorf("%d rows, want none: nothing was made", rows.len())
		}
	})
}

func TestTheLimitOnSilences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := newTable()
		r := newRig(t, "max_silences: 1\nsilences: [{matchers: [{selector: rule, value: a}]}]", stored(rows)).spawn()
		s := spec("rule", "b")
		s.StartsAt = time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
		r.add(s)
		_, err := r.client.AddSilence(t.Context(), spec("rule", "c"))
		var full *FullError
		if !errors.As(err, &full) || full.Limit != 1 || !strings.Contains(err.Error(), "1 silence") {
			t.Errorf("got %v, want that one is the limit", err)
		}
		r.wantList("static:a:active api:b:pending")
		if rows.len() != 1 {
			t.Errorf("%d rows, want 1", rows.len())
		}
	})
}

func TestASilenceThatCannotBeReadIsRefusedBeforeTheStageIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "")
		if _, err := r.client.AddSilence(t.Context(), spec("bogus.x", "1")); err == nil || !strings.Contains(err.Error(), "bogus.x") {
			t.Errorf("got %v, want the selector", err)
		}
	})
}

func TestStoredSilencesComeBackInTheirOrder(t *testing.T) {
	for _, tc := range []struct {
		name  string
		clear bool
		want  string
	}{
		{"they are there again, behind those of the file", false, "static:f:active api:c:active api:a:active api:b:active api:d:active"},
		{"cleared state has none", true, "static:f:active api:d:active"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rows := newTable()
				r := newRig(t, "", stored(rows)).spawn()
				for _, v := range []string{"c", "a", "b"} {
					r.add(spec("rule", v))
				}
				gone := spec("rule", "gone")
				gone.EndsAt = time.Now().Add(time.Minute).UTC().Format(time.RFC3339)
				r.add(gone)
				rows.rows[string(rowKey(77))] = `{"id":"x","matchers":[{"selector":"rule","op":"=~","value":"("}]}`
				r.Cell().Close() // as at a kill: no tick comes any more
				time.Sleep(time.Hour)
				r = newRig(t, "silences: [{matchers: [{selector: rule, value: f}]}]", stored(rows), func(o *Options) { o.Clear = tc.clear })
				r.spawn()
				r.add(spec("rule", "d"))
				r.wantList(tc.want)
				if got := len(r.log.Matching("level=WARN", "stored silence cannot be used")); got != 1 && !tc.clear {
					t.Errorf("%d warnings of the row that cannot be used, want one", got)
				}
				if want := map[bool]int{false: 5, true: 1}[tc.clear]; rows.len() != want {
					t.Errorf("%d rows, want %d", rows.len(), want)
				}
			})
		})
	}
}

func TestASilenceOfTheFileThatWasDeletedIsBackAfterAReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "silences: [{id: s, matchers: [{selector: rule, value: a}]}]").spawn()
		r.add(spec("rule", "b"))
		if found, err := r.client.DeleteSilence(t.Context(), "s"); !found || err != nil {
			t.Fatalf("deleted: %t, %v", found, err)
		}
		r.wantList("api:b:active")
		if err := r.client.renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.wantList("static:a:active api:b:active")
	})
}

// A change that is given up is taken back, and one that the stage has begun with is made.
func TestAChangeIsMadeOrGivenUpNeverBoth(t *testing.T) {
	timeout := &mailbox.Refusal{Reason: mailbox.ErrTimeout}
	taken := func() *claim { c := new(claim); c.take(); return c }
	for _, tc := range []struct {
		name  string
		err   error
		claim *claim
		given bool
	}{
		{"it was answered", nil, taken(), false},
		{"nobody has begun with it", timeout, new(claim), true},
		{"the stage has begun with it", timeout, taken(), false},
		{"the stage panicked over it", &mailbox.Refusal{Reason: mailbox.ErrPanicked}, taken(), true},
		{"the stage has stopped", &mailbox.Refusal{Reason: mailbox.ErrStopped}, new(claim), true},
		{"there are too many", &FullError{1}, new(claim), true},
	} {
		if got := given(tc.err, tc.claim); got != tc.given {
			t.Errorf("%s: given up: %t, want %t", tc.name, got, tc.given)
		}
	}
}

func TestASilenceThatMutesNothingIsWarnedOf(t *testing.T) {
	const idle = "no alert pipeline is configured, so nothing is muted until a start with --alert-pipeline"
	const over = "ends_at is over, so the silence mutes nothing"
	for _, tc := range []struct{ name, file, ends, want string }{
		{"an active one of a pipeline", "{}", "", ""},
		{"one of a pipeline that has an end", "{}", "2126-01-01T00:00:00Z", ""},
		{"one that is over", "{}", "1999-12-31T23:59:59Z", over},
		{"one without a pipeline", "", "", idle},
		{"both", "", "1999-12-31T23:59:59Z", idle + "; " + over},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, tc.file).spawn()
				s := spec("rule", "x")
				s.EndsAt = tc.ends
				if made, err := r.client.AddSilence(t.Context(), s); made.ID == "" || made.Warning != tc.want || err != nil {
					t.Errorf("made %+v, %v, want the warning %q", made, err, tc.want)
				}
			})
		})
	}
}

func TestTheLogSaysWhatASilenceMatchesAndWhoMadeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "{}").spawn()
		s := spec("rule", "a \"b\"")
		s.Matchers = append(s.Matchers, selector.Condition{Selector: "level", Op: "!=", Value: "low"})
		s.EndsAt, s.CreatedBy = "2126-01-01T01:00:00+01:00", "ann"
		id := r.add(s)
		if _, err := r.client.DeleteSilence(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		for _, what := range []string{"silence made", "silence deleted"} {
			want := []string{"level=INFO", what, "id=" + id, `matchers="rule=\"a \\\"b\\\"\", level!=\"low\""`, "ends_at=2126-01-01T00:00:00Z", "created_by=ann"}
			if got := r.log.Matching(want...); len(got) != 1 {
				t.Errorf("logged %q, want %q", r.log.Matching("silence"), want)
			}
		}
		s = spec("rule", strings.Repeat("x", 5000)+"é")
		s.CreatedBy = strings.Repeat("y", 500)
		r.add(s)
		if got := r.log.Matching("silence made", "xxx...", "yyy..."); len(got) != 1 || len(got[0]) > 1500 || strings.Contains(got[0], "ends_at") {
			t.Errorf("logged %q, want short texts", got)
		}
	})
}
