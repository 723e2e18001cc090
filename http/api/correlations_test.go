package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
)

// many is a state with groups of some size, which go out of reach with their page.
type many struct {
	groups, size int
	sent         int
	asked        int
	limits       int // groups that were asked for
	fail         int // the page that fails, from 1
}

func (m *many) List(context.Context) ([]correlation.Entry, error) { return nil, nil }

func (m *many) State(_ context.Context, f correlation.Filter) ([]correlation.Entry, iter.Seq[correlation.GroupEntry], int, error) {
	m.asked++
	m.limits += f.Limit
	if m.asked == m.fail {
		return nil, nil, 0, errors.New("the stage has gone")
	}
	first := m.sent
	return nil, func(yield func(correlation.GroupEntry) bool) {
		for m.sent < m.groups && m.sent-first < f.Limit {
			m.sent++
			g := correlation.GroupEntry{CorrelationIndex: m.sent, CorrelationTitle: strings.Repeat("x", m.size)}
			if !yield(g) {
				return
			}
		}
	}, m.groups - first, nil
}

// writes notes how much of the state was made for each write.
type writes struct {
	*httptest.ResponseRecorder
	m       *many
	largest int
	ahead   int // groups made before the first write
	fails   bool
}

func (w *writes) Write(p []byte) (int, error) {
	if w.ahead == 0 {
		w.ahead = w.m.sent
	}
	w.largest = max(w.largest, len(p))
	if w.fails {
		return 0, errors.New("client has left")
	}
	return w.ResponseRecorder.Write(p)
}

func TestTheStateIsSentInPages(t *testing.T) {
	for _, tc := range []struct {
		name         string
		groups, size int
		query        string
		want         int // groups
		pages        int
	}{
		{"an empty one", 0, 1, "", 0, 1},
		{"few groups", 5, 10, "", 5, 1},
		{"exactly a page", pageGroups, 1, "", pageGroups, 2}, // the second has none
		{"many small groups", 3*pageGroups + 1, 1, "", 3*pageGroups + 1, 4},
		{"large groups", 40, 100 << 10, "", 40, 4},
		{"a group larger than a page", 3, 2 * pageBytes, "", 3, 4},
		{"many groups larger than a page", 40, pageBytes, "", 40, 41},
		{"a limit below a page", 100, 10, "?limit=7", 7, 1},
		{"a limit beyond a page", 3 * pageGroups, 1, fmt.Sprintf("?limit=%d", 2*pageGroups), 2 * pageGroups, 2},
		{"a limit of large groups", 40, 100 << 10, "?limit=12", 12, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := &many{groups: tc.groups, size: tc.size}
			w := &writes{ResponseRecorder: httptest.NewRecorder(), m: m}
			(&Resources{Correlations: m}).getCorrelationState(w, httptest.NewRequest(http.MethodGet, "/api/v1/correlations/state"+tc.query, nil))
			var answer struct {
				Groups []struct {
					Index int `json:"correlation_index"`
				}
				Count int
			}
			if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
				t.Fatal(err)
			}
			if len(answer.Groups) != tc.want || answer.Count != tc.groups || m.asked != tc.pages {
				t.Errorf("%d groups, count %d, %d pages, want %d, %d, %d", len(answer.Groups), answer.Count, m.asked, tc.want, tc.groups, tc.pages)
			}
			if most := 3*tc.groups + pageGroups + tc.pages; m.limits > most {
				t.Errorf("%d groups were asked for, want at most %d", m.limits, most)
			}
			for i, g := range answer.Groups {
				if g.Index != i+1 {
					t.Fatalf("group %d has index %d", i, g.Index)
				}
			}
			if limit := pageBytes + tc.size + 1024; w.largest > limit {
				t.Errorf("a page has %d bytes, want %d at most", w.largest, limit)
			}
			if tc.groups > pageGroups && w.ahead > pageGroups {
				t.Errorf("%d groups were made before any was sent", w.ahead)
			}
		})
	}
}

func TestAClientThatHasLeftGetsNoMoreGroups(t *testing.T) {
	m := &many{groups: 100_000, size: 1 << 10}
	w := &writes{ResponseRecorder: httptest.NewRecorder(), m: m, fails: true}
	(&Resources{Correlations: m}).getCorrelationState(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if m.sent > pageBytes>>10 {
		t.Errorf("%d groups of a KiB were made for nobody, want no more than a page", m.sent)
	}
}

// counting is the state of an engine.
type counting struct{ engine *correlation.Engine }

func (c counting) List(context.Context) ([]correlation.Entry, error) { return nil, nil }

func (c counting) State(_ context.Context, f correlation.Filter) ([]correlation.Entry, iter.Seq[correlation.GroupEntry], int, error) {
	v := c.engine.Export()
	groups, count := v.Each(f)
	return v.Entries(f), groups, count, nil
}

// slow is a client that looks at what is in memory for it whenever it reads.
type slow struct {
	*httptest.ResponseRecorder
	sent, largest, held int
	reads               int // after so many it has left; 0 for never
	before              uint64
}

func (s *slow) Write(p []byte) (int, error) {
	s.sent++
	s.largest = max(s.largest, len(p))
	if s.sent%20 == 1 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		s.held = max(s.held, int(m.HeapAlloc-min(m.HeapAlloc, s.before))-s.Body.Cap())
	}
	if s.sent == s.reads {
		return 0, errors.New("client has left")
	}
	return s.ResponseRecorder.Write(p)
}

// A window that repeats a long text used to be made as a whole.
func TestALongWindowIsMadeWhileItIsSent(t *testing.T) {
	entries := sigmatest.Rounds(20_000)
	for _, tc := range []struct {
		name, kind, want string
		size             int // of the answer
		reads            int
	}{
		{"texts", "value_count, condition: {field: text, gte: 2}", `"ValueCount":{"entries":[[1,"`, entries * 900, 0},
		{"texts, for a client that leaves", "value_count, condition: {field: text, gte: 2}", "", 0, 21},
		{"numbers", "value_sum, condition: {field: n, gte: 2}", `"NumericAgg":{"entries":[[1,1.5],[2,`, entries * 8, 0},
		{"counts", "event_count, condition: {gte: 2}", `"EventCount":{"timestamps":[1,2,3`, entries * 6, 0},
		{"hits", "temporal", `"Temporal":{"rule_hits":{"d":[1,2,3`, entries * 6, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rules := load.FromBytes("r.yml", []byte("title: d\nid: d\ndetection: {s: {kind: d}, condition: s}\n---\n"+
				"title: c\nid: c\ncorrelation: {rules: d, group-by: user, timespan: 1d, type: "+tc.kind+"}\n"), load.Options{})
			program, err := correlation.Compile(rules.Correlations, rules.Rules, correlation.Options{})
			if err != nil || len(rules.Rejected) > 0 {
				t.Fatal(err, rules.Problems())
			}
			set, err := engine.Compile(rules.Rules, engine.Options{Fields: program.Spec().Fields})
			if err != nil {
				t.Fatal(err)
			}
			e, x, source := correlation.New(program, correlation.Limits{}), correlation.NewExtractor(program), correlation.NewEventSource(program, set)
			w, events := set.NewWorker(), new(engine.Events)
			for i := range entries {
				events.Reset()
				if err := w.DecodeJSON(events, fmt.Appendf(nil, `{"user":"u%d","n":1.5,"text":%q}`, i/(entries-10), strings.Repeat("x", 900))); err != nil {
					t.Fatal(err)
				}
				source.Open(w, events, 0)
				if _, _, err := e.Process(x.Append(nil, []int{0}, int64(i+1), source), 1, 1, nil); err != nil {
					t.Fatal(err)
				}
			}
			client := &slow{ResponseRecorder: httptest.NewRecorder(), reads: tc.reads}
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			client.before = m.HeapAlloc
			(&Resources{Correlations: counting{e}}).getCorrelationState(client, httptest.NewRequest(http.MethodGet, "/api/v1/correlations/state", nil))
			if client.largest > 64<<10 || client.held > 2<<20 {
				t.Errorf("%d bytes were sent at once, %d were held", client.largest, client.held)
			}
			if tc.reads > 0 {
				if client.sent > tc.reads {
					t.Errorf("%d pieces were made for a client that left after %d", client.sent, tc.reads)
				}
				return
			}
			body := client.Body.String()
			var answer struct {
				Groups []struct{ Entries int }
				Count  int
			}
			if err := json.Unmarshal([]byte(body), &answer); err != nil {
				t.Fatalf("%v in %.300s", err, body)
			}
			if len(answer.Groups) != 2 || answer.Groups[0].Entries+answer.Groups[1].Entries != entries || answer.Count != 2 ||
				len(body) < tc.size/2 || !strings.Contains(body, tc.want) {
				t.Errorf("got %+v in %d bytes: %.400s", answer, len(body), body)
			}
		})
	}
}

func TestAnAnswerThatBreaksOffIsNotTakenForAWhole(t *testing.T) {
	m := &many{groups: 100_000, size: 1 << 10, fail: 2}
	defer func() {
		if got := recover(); got != http.ErrAbortHandler { //nolint:errorlint // net/http compares panics by identity
			t.Errorf("got %v, want the connection cut", got)
		}
	}()
	(&Resources{Correlations: m}).getCorrelationState(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
}
