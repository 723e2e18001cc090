package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/correlation"
)

// many is a state with groups of some size, which go out of reach with their page.
type many struct {
	groups, size int
	sent         int
	asked        int
	fail         int // the page that fails, from 1
}

func (m *many) List(context.Context) ([]correlation.Entry, error) { return nil, nil }

func (m *many) State(_ context.Context, f correlation.Filter) ([]correlation.Entry, iter.Seq[correlation.GroupEntry], int, error) {
	m.asked++
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

func TestAnAnswerThatBreaksOffIsNotTakenForAWhole(t *testing.T) {
	m := &many{groups: 100_000, size: 1 << 10, fail: 2}
	defer func() {
		if got := recover(); got != http.ErrAbortHandler { //nolint:errorlint // net/http compares panics by identity
			t.Errorf("got %v, want the connection cut", got)
		}
	}()
	(&Resources{Correlations: m}).getCorrelationState(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
}
