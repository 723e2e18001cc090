package sources

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/sources/fetch"
)

func TestSourcesDoNotWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		all := manyDeclared(12)
		for _, s := range all {
			w.values[s.ID] = `1`
			w.takes[s.ID] = time.Second
		}
		w.takes["s0"] = 20 * time.Second
		d := spawn(t, w, append(all, declared("f", every(2*time.Second))))
		w.values["f"] = `1`
		d.begin()
		if took := time.Since(w.begun); took != 20*time.Second {
			t.Errorf("the start took %s, want that of the slowest", took)
		}
		if w.most != maxRunning {
			t.Errorf("%d fetches ran at once, want %d", w.most, maxRunning)
		}
		if got, err := d.Client().Resolve(t.Context(), "s0"); got != Accepted || err != nil {
			t.Fatalf("%s, %v", got, err)
		}
		time.Sleep(7 * time.Second)
		synctest.Wait()
		if got, want := w.began("f")[1:], []time.Duration{22 * time.Second, 24 * time.Second, 26 * time.Second}; !slices.Equal(got, want) {
			t.Errorf("beside a slow fetch the interval is fetched at %v, want %v", got, want)
		}
	})
}

func TestARefreshThatBringsAnotherValueIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.values["f"] = `1`
		d := spawn(t, w, []*fetch.Declaration{declared("f", every(10*time.Second))})
		d.begin()
		if len(d.took()) != 0 || d.value("f") != `1` {
			t.Fatalf("after the start %v have changed, the value is %s", d.took(), d.value("f"))
		}
		time.Sleep(15 * time.Second)
		w.set("f", `2`)
		time.Sleep(10 * time.Second)
		w.set("f", "") // fails
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if got := d.took(); len(got) != 1 || !slices.Equal(got[0], []string{"f"}) || d.value("f") != `2` {
			t.Errorf("%v have changed, the value is %s", got, d.value("f"))
		}
		for _, want := range []string{
			`source_resolves_total{source_id="f",source_type="file"} 4`, `source_resolve_errors_total{error_kind="Fetch",source_id="f"} 1`,
			`source_cache_hits_total 1`, `source_last_resolved_timestamp{source_id="f"} 9.4668482e+08`,
			`source_resolve_seconds_bucket{le="0.01"} 4`, `source_resolve_seconds_bucket{le="10"} 4`,
		} {
			if got := d.scrape(); !strings.Contains(got, want+"\n") {
				t.Errorf("there is no %s in\n%s", want, got)
			}
		}
		if got, want := d.Feature().Status()[0].Value, (Status{1, 4, 1, 1, nil}); !reflect.DeepEqual(got, want) {
			t.Errorf("the status is %+v, want %+v", got, want)
		}
	})
}

func TestSeriesWithAnIDAppearWithTheirFirstEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := spawn(t, newWorld(), manyDeclared(2))
		families, err := d.registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range families {
			names = append(names, f.GetName())
		}
		if want := []string{"source_cache_hits_total", "source_resolve_seconds"}; !slices.Equal(names, want) {
			t.Errorf("before the first fetch there are %v, want %v", names, want)
		}
	})
}

func TestMessagesReplaceTheValue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.values["f"] = "pending"
		nats := func(d *fetch.Declaration) { d.Type = fetch.NATS }
		d := spawn(t, w, []*fetch.Declaration{declared("f", nats, refreshed(fetch.Push))})
		d.begin()
		if got := d.value("f"); got != "" {
			t.Errorf("without a message the value is %s, want null", got)
		}
		w.messages <- `1`
		w.messages <- `1`
		w.messages <- &fetch.Error{Source: "f", Kind: fetch.Parse, Detail: "no JSON"}
		synctest.Wait()
		if got := d.took(); len(got) != 1 || d.value("f") != `1` || d.Client().Snapshot().Values()["f"].Remote != true {
			t.Errorf("%v have changed, the value is %s", got, d.value("f"))
		}
		if got, want := d.Feature().Status()[0].Value, (Status{1, 4, 1, 0, nil}); !reflect.DeepEqual(got, want) {
			t.Errorf("the status is %+v, want %+v", got, want)
		}
		if got, err := d.Client().Resolve(t.Context(), "f"); got != Accepted || err != nil {
			t.Fatalf("%s, %v", got, err)
		}
		synctest.Wait()
		if got := d.value("f"); got != `1` {
			t.Errorf("a fetch without a message makes it %s", got)
		}
		if text := d.log.String(); !strings.Contains(text, "its value stays") || !strings.Contains(text, "parse failed: no JSON") {
			t.Errorf("the log is\n%s", text)
		}
	})
}

func TestAMessageThatIsNoValueChangesNothing(t *testing.T) {
	for _, change := range [][]func(*fetch.Declaration){nil, {optional, onError(fetch.Fail)}} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			w.values["f"] = "pending"
			nats := func(d *fetch.Declaration) { d.Type = fetch.NATS }
			d := spawn(t, w, []*fetch.Declaration{declared("f", append(change, nats, refreshed(fetch.Push))...)})
			d.begin()
			w.messages <- `1`
			w.messages <- failed
			synctest.Wait()
			if got := d.value("f"); got != `1` || len(d.took()) != 1 {
				t.Errorf("the value is %s, %v have changed", got, d.took())
			}
		})
	}
}

func TestEveryMessageCountsAndAStormIsToldOnceInAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.values["f"] = "pending"
		nats := func(d *fetch.Declaration) { d.Type = fetch.NATS }
		d := spawn(t, w, []*fetch.Declaration{declared("f", nats, refreshed(fetch.Push))})
		d.begin()
		w.messages <- fetch.Pushed{
			JSON: []byte(`1`), Values: 1000, Failed: map[fetch.ErrorKind]int{fetch.Parse: 20, fetch.Timeout: 3},
			Err: &fetch.Error{Source: "f", Kind: fetch.Parse, Detail: "no JSON"},
		}
		for range 500 {
			w.messages <- &fetch.Error{Source: "f", Kind: fetch.ExtractFailed, Detail: "nothing"}
		}
		synctest.Wait()
		for _, want := range []string{
			`source_resolves_total{source_id="f",source_type="nats"} 1524`, // with the fetch of the start
			`source_resolve_errors_total{error_kind="Parse",source_id="f"} 20`, `source_resolve_errors_total{error_kind="Timeout",source_id="f"} 3`,
			`source_resolve_errors_total{error_kind="Extract",source_id="f"} 500`, `source_resolve_seconds_count 1`,
		} {
			if got := d.scrape(); !strings.Contains(got, want+"\n") {
				t.Errorf("there is no %s in\n%s", want, got)
			}
		}
		if got, want := d.Feature().Status()[0].Value, (Status{1, 1524, 523, 0, nil}); !reflect.DeepEqual(got, want) || d.value("f") != `1` {
			t.Errorf("the status is %+v, want %+v; the value is %s", got, want, d.value("f"))
		}
		d.end()
		if text := d.log.String(); strings.Count(text, faultyMessages) != 2 || !strings.Contains(text, "messages=23 ") || !strings.Contains(text, "messages=500\n") {
			t.Errorf("logged\n%s", text)
		}
	})
}

func TestRequestsOverTheControlSubject(t *testing.T) {
	for _, tc := range []struct{ name, payload, want string }{
		{"an id", "a", "a"},
		{"an id with blanks around it", " a\r\n", "a"},
		{"an object", ` {"source_id":"b"} `, "b"},
		{"nothing", "", "a b"},
		{"an id that nobody declares", "nope", "a b"},
		{"an object with such an id", `{"source_id":"nope"}`, "a b"},
		{"no object", `["a"]`, "a b"},
		{"a value of another kind", `{"source_id":1}`, "a b"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				w.values = map[string]string{"a": `1`, "b": `1`}
				d := spawn(t, w, []*fetch.Declaration{declared("a"), declared("b", refreshed(fetch.OnDemand))}, func(o *Options) { o.ControlServer = "nats://h:4222" })
				d.begin()
				w.takes = map[string]time.Duration{"a": time.Second, "b": time.Second}
				for range 3 {
					w.requests <- tc.payload
					synctest.Wait()
				}
				time.Sleep(time.Minute)
				for _, id := range []string{"a", "b"} {
					want := 1
					if strings.Contains(tc.want, id) {
						want = 2
						if !strings.Contains(tc.want, " ") {
							want = 3 // the two that came during the fetch share one
						}
					}
					if got := len(w.began(id)); got != want {
						t.Errorf("%s was fetched %d times, want %d", id, got, want)
					}
				}
			})
		})
	}
}

func TestRequestsForAllThatComeTooEarlyAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.values = map[string]string{"a": `1`, "b": `1`}
		d := spawn(t, w, []*fetch.Declaration{declared("a"), declared("b")})
		d.begin()
		w.mu.Lock()
		w.takes = map[string]time.Duration{"a": time.Second, "b": 3 * time.Second}
		w.mu.Unlock()
		ask := func(id string, want Resolution) {
			t.Helper()
			if got, err := d.Client().Resolve(t.Context(), id); got != want || err != nil {
				t.Errorf("at %s: %s, %v, want %s", time.Since(w.begun), got, err, want)
			}
		}
		ask("a", Accepted)
		ask("", Accepted) // and a once more
		ask("", Pending)
		ask("a", Pending)
		time.Sleep(1500 * time.Millisecond) // a waits no more, it runs again
		ask("a", Pending)
		time.Sleep(time.Second)
		ask("a", Accepted)
		ask("", Pending) // for b
		time.Sleep(time.Second)
		ask("", Accepted)
		time.Sleep(time.Minute)
		if a, b := len(w.began("a")), len(w.began("b")); a != 5 || b != 3 {
			t.Errorf("a was fetched %d times and b %d times, want 5 and 3", a, b)
		}
	})
}

func TestAServerIsAskedForWhatIsNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.values["f"], w.etag = `1`, "e1"
		d := spawn(t, w, []*fetch.Declaration{declared("f", every(10*time.Second))})
		d.begin()
		w.set("f", "") // so that only the validator answers
		time.Sleep(25 * time.Second)
		synctest.Wait()
		if d.value("f") != `1` || !slices.Equal(w.known, []string{"e1", "e1"}) {
			t.Errorf("the value is %s, the server was shown %v", d.value("f"), w.known)
		}
		if got, want := d.Feature().Status()[0].Value, (Status{1, 3, 0, 0, nil}); !reflect.DeepEqual(got, want) {
			t.Errorf("the status is %+v, want %+v", got, want)
		}
		if err := d.Client().Invalidate(t.Context(), "f"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if len(w.known) != 2 {
			t.Error("a value that was dropped is shown to the server")
		}
		if got := d.value("f"); got != `1` {
			t.Errorf("rules have lost their value: %s", got)
		}
	})
}

func TestAFetchThatPanicsIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.values["f"] = `1`
		d := spawn(t, w, []*fetch.Declaration{declared("f", every(10*time.Second))})
		d.begin()
		w.set("f", "panic")
		time.Sleep(11 * time.Second)
		w.set("f", `2`)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if got := d.value("f"); got != `2` {
			t.Errorf("the value is %s", got)
		}
		if got := d.Feature().Status()[0].Value.(Status); got.Errors != 1 || got.CacheHits != 1 {
			t.Errorf("the status is %+v", got)
		}
	})
}

func TestTheEndCallsFetchesOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.values["f"] = `1`
		d := spawn(t, w, []*fetch.Declaration{declared("f", every(10*time.Second))})
		d.begin()
		w.mu.Lock()
		w.takes["f"] = time.Hour
		w.mu.Unlock()
		asked := make(chan error, 1)
		go func() {
			_, err := d.Client().Fetch(context.Background())
			asked <- err
		}()
		synctest.Wait()
		if got := d.system.Detail(t.Context(), Name); got != (Detail{1, 1}) {
			t.Errorf("the detail is %+v", got)
		}
		begin := time.Now()
		d.stop()
		if took := time.Since(begin); took > 2*time.Second {
			t.Errorf("the end took %s", took)
		}
		if err := <-asked; !errors.Is(err, context.Canceled) {
			var unresolved *UnresolvedError
			if !errors.As(err, &unresolved) {
				t.Errorf("the round ends with %v", err)
			}
		}
		if n := d.Feature().Status()[0].Value.(Status).Errors; n != 0 {
			t.Errorf("%d errors are counted, want none", n)
		}
		time.Sleep(time.Hour)
		if n := len(w.began("f")); n != 2 {
			t.Errorf("%d fetches, want none after the end", n)
		}
	})
}

func TestTheListOfSources(t *testing.T) {
	d := spawnless([]*fetch.Declaration{
		declared("feed", func(d *fetch.Declaration) { d.Type = fetch.HTTP }, every(5*time.Minute)),
		declared("f", every(500*time.Millisecond), optional), declared("n", func(d *fetch.Declaration) { d.Type = fetch.NATS }, refreshed(fetch.Push)),
	})
	want := []Entry{
		{"feed", "external:sources.yml", "Http", "Interval(300s)", true},
		{"f", "external:sources.yml", "File", "Interval(500ms)", false},
		{"n", "external:sources.yml", "Nats", "Push", true},
	}
	if got := d.Client().List(); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
