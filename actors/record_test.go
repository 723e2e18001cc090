package actors_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/actorstest"
	"github.com/sluicehq/sluice/actors/mailbox"
)

// spawnEmpty starts an actor that does nothing.
func spawnEmpty(t *testing.T, s *actors.System, name string, kind mailbox.Kind) {
	t.Helper()
	cell := mailbox.NewCell(name, kind, mailbox.CellOptions{})
	mailbox.NewLane(cell, mailbox.LaneOptions[int]{Capacity: 10})
	_, err := s.Spawn(cell, func(actors.RestartState) actor.Actor { return actor.ReceiveFunc(func(actor.Context) {}) })
	if err != nil {
		t.Fatal(err)
	}
}

func TestRecordsAreListedInGraphOrder(t *testing.T) {
	s := actorstest.System(t, actors.Options{})
	for _, a := range []struct {
		name string
		kind mailbox.Kind
	}{
		{"reload", actors.KindControl},
		{actors.NameDLQ, actors.KindSink},
		{"sink:file", actors.KindSink},
		{"sink:a", actors.KindSink},
		{"audit", actors.KindControl},
		{"dispatch", actors.KindStage},
		{"parse", actors.KindStage},
		{"correlate", actors.KindStage},
	} {
		spawnEmpty(t, s, a.name, a.kind)
	}
	var got []string
	for _, r := range s.Records() {
		got = append(got, r.Parent+"/"+r.Name)
	}
	want := []string{
		"dataflow/parse", "dataflow/correlate", "dataflow/dispatch", "delivery/sink:file", "delivery/sink:a",
		"delivery/dlq", "control/audit", "control/reload",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	cell := mailbox.NewCell("parse", actors.KindStage, mailbox.CellOptions{})
	if _, err := s.Spawn(cell, nil); !errors.Is(err, actor.ErrNameExists) {
		t.Errorf("a second parse: got %v, want %v", err, actor.ErrNameExists)
	}
}

func TestARecordAsJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, actors.Options{})
		list := items(1, 3)
		list[0].step = func() { time.Sleep(4200 * time.Millisecond) }
		list[2].after = panics(1, "index out of range")
		b.put(t, list)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		got, err := json.Marshal(b.record(t))
		if err != nil {
			t.Fatal(err)
		}
		want := `{"name":"evaluate","kind":"stage","parent":"dataflow","state":"running",` +
			`"mailbox":{"capacity":1024,"depth":0,"high_watermark":3,"control_capacity":64,"control_depth":0,"blocked_seconds_total":0},` +
			`"batches_processed":1,"events_processed":3,"restarts":1,"last_restart":"2000-01-01T00:00:04Z",` +
			`"last_error":"panic: index out of range","busy_ratio":0.42,"workers":1}`
		if string(got) != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

func TestTheBusyRatioLooksBackTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, actors.Options{})
		list := items(1, 1)
		list[0].step = func() { time.Sleep(30 * time.Second) }
		go b.stage.lane.TryPut(list)
		for _, tc := range []struct {
			after time.Duration
			want  float64
		}{
			{4 * time.Second, 0.4}, {20 * time.Second, 1}, {29 * time.Second, 1}, {36 * time.Second, 0.4}, {41 * time.Second, 0},
		} {
			time.Sleep(tc.after - time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)))
			if got := b.record(t).BusyRatio; got != tc.want {
				t.Errorf("after %v: got %g, want %g", tc.after, got, tc.want)
			}
		}
	})
}

func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, actors.Options{})
		spawnEmpty(t, b.sys, "reload", actors.KindControl)
		list := items(1, 3)
		list[0].step = func() { time.Sleep(time.Second) }
		list[1].step = panics(always, "boom")
		list[2].after = panics(1, "boom")
		b.put(t, list)
		time.Sleep(time.Minute)
		reg := prometheus.NewPedanticRegistry()
		prometheus.WrapRegistererWithPrefix("svc_", reg).MustRegister(actors.NewCollector(b.sys))
		if _, err := b.sys.Resize("evaluate", 7); err != nil {
			t.Fatal(err)
		}
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				got[f.GetName()+" "+m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
		want := map[string]float64{
			"svc_actor_busy_seconds_total evaluate": 1, "svc_actor_busy_seconds_total reload": 0,
			"svc_actor_mailbox_capacity evaluate": 7, "svc_actor_mailbox_capacity reload": 10,
			"svc_actor_mailbox_depth evaluate": 0, "svc_actor_mailbox_depth reload": 0,
			"svc_actor_restarts_total evaluate": 1, "svc_actor_restarts_total reload": 0,
			"svc_actor_quarantined_total evaluate": 1,
		}
		if !maps.Equal(got, want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
	})
}

func TestTheReplyIsTyped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actorstest.System(t, actors.Options{})
		denied := errors.New("denied")
		cell := mailbox.NewCell("reload", actors.KindControl, mailbox.CellOptions{})
		client, err := s.Spawn(cell, func(actors.RestartState) actor.Actor {
			return actor.ReceiveFunc(func(c actor.Context) {
				switch c.Message().(type) {
				case int:
					c.Respond("a text")
				case string:
					c.Respond(denied)
				}
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := mailbox.Ask[string](t.Context(), client, 1); got != "a text" || err != nil {
			t.Errorf("got %q, %v, want a text", got, err)
		}
		if _, err := mailbox.Ask[int](t.Context(), client, 1); !errors.Is(err, mailbox.ErrReply) {
			t.Errorf("another type: got %v, want %v", err, mailbox.ErrReply)
		}
		if _, err := mailbox.Ask[int](t.Context(), client, "x"); !errors.Is(err, denied) {
			t.Errorf("an error as the reply: got %v, want %v", err, denied)
		}
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		if _, err := mailbox.Ask[int](ctx, client, 2.5); !errors.Is(err, mailbox.ErrTimeout) {
			t.Errorf("no reply and a client that leaves: got %v, want %v", err, mailbox.ErrTimeout)
		}
		if got := s.Detail(t.Context(), "reload"); got != nil {
			t.Errorf("detail of an actor that does not answer: got %v, want nil", got)
		}
	})
}

// A process that stood still has used up time that its actors did not have.
func TestActorsThatStopAtOnceAreNeverLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actorstest.System(t, actors.Options{})
		spawnCounter(t, s, nil, counterOptions{name: "alert"})
		spawnEmpty(t, s, "reload", actors.KindControl)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.Stop(ctx); err != nil {
			t.Errorf("got %v, want no error", err)
		}
	})
}

// However quick the actor is.
func TestAQuestionOfSomebodyWhoIsGoneIsNotAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actorstest.System(t, actors.Options{})
		stage := spawnCounter(t, s, nil, counterOptions{name: "alert"})
		ctx, leave := context.WithCancel(t.Context())
		leave()
		for range 100 {
			if _, err := mailbox.Ask[marked](ctx, stage.Client, mark{"late"}); !errors.Is(err, mailbox.ErrTimeout) {
				t.Fatalf("got %v, want %v", err, mailbox.ErrTimeout)
			}
		}
		if state, err := mailbox.Ask[tally](t.Context(), stage.Client, readTally{}); err != nil || len(state.marks) != 0 {
			t.Errorf("carried out: %v, %v, want none", state.marks, err)
		}
	})
}

func TestTheLibraryIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, actors.Options{})
		_, _ = mailbox.Ask[marked](t.Context(), b.stage.Client, explode{"boom"})
		time.Sleep(time.Second)
		if got := b.log.Matching("level=INFO"); len(got) != 0 {
			t.Errorf("info logs: got %v, want none", got)
		}
		if got := b.log.Matching("level=ERROR", "actor panicked", "boom", "explode"); len(got) > 1 {
			t.Errorf("error logs: got %v, want one", got)
		}
		if got := b.log.Matching("level=ERROR", "stack="); len(got) != 1 {
			t.Errorf("error logs with stack: got %v, want one", got)
		}
	})
}
