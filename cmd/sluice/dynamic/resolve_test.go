package dynamic

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/sources/fetch"
)

// declared loads declarations, of which paths are in a directory with the files.
func declared(t *testing.T, text string, files map[string]string) []*fetch.Declaration {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	files["sources.yml"] = text
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	all, warnings, err := fetch.Load([]string{"sources.yml"})
	if err != nil || len(warnings) > 0 {
		t.Fatalf("%v, %v", err, warnings)
	}
	return all
}

func TestWhatCountsAfterOneFetch(t *testing.T) {
	for _, tc := range []struct {
		name, declaration string
		value             string // null for nil
		resolved          bool
		warning, fault    string
	}{
		{"what was fetched", "path: there.json", `["a"]`, true, "", ""},
		{"a failure of a required source", "path: none", "null", false, "", "source 's': fetch failed: failed to read none: "},
		{"a failure of an optional source", "path: none, required: false", "null", false, "source 's': fetch failed: failed to read none: ", ""},
		{"a failure with a default", "path: none, on_error: use_default, default: {b: 1}", `{"b":1}`, true, "(its default counts)", ""},
		{"a failure with a default of null", "path: none, on_error: use_default, default: null", "null", true, "(its default counts)", ""},
		{"a default that is not asked for", "path: none, default: [x]", "null", false, "", "failed to read none"},
		{"a failure that leaves nothing", "path: none, on_error: fail, required: false", "null", false, "(it counts as null)", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			all := declared(t, "sources: [{id: s, type: file, format: json, "+tc.declaration+"}]\n", map[string]string{"there.json": `["a"]`})
			client := fetch.New(fetch.Options{Log: slog.New(slog.DiscardHandler)})
			defer client.Close()
			list := Resolve(t.Context(), client, all)
			values, warnings, err := Values(list)
			got := "null"
			if values["s"].JSON != nil {
				got = string(values["s"].JSON)
			}
			if len(list) != 1 || list[0].Resolved != tc.resolved || got != tc.value || values["s"].Remote {
				t.Errorf("got %+v with %s, want %s", list[0], got, tc.value)
			}
			if all := strings.Join(warnings, "\n"); !strings.Contains(all, tc.warning) || (all == "") != (tc.warning == "") {
				t.Errorf("got warnings %q, want %q", warnings, tc.warning)
			}
			if (err == nil) != (tc.fault == "") || err != nil && !strings.Contains(err.Error(), tc.fault) {
				t.Errorf("got %v, want %q", err, tc.fault)
			}
		})
	}
}

// waiting answers after a second, and knows how many fetches ran at once.
type waiting struct{ now, most atomic.Int32 }

func (w *waiting) Fetch(ctx context.Context, d *fetch.Declaration, _ *fetch.Validators) (fetch.Value, error) {
	if n := w.now.Add(1); n > w.most.Load() {
		w.most.Store(n)
	}
	defer w.now.Add(-1)
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return fetch.Value{}, ctx.Err()
	}
	if d.ID == "s3" {
		return fetch.Value{}, errors.New("gone")
	}
	return fetch.Value{JSON: []byte(`"` + d.ID + `"`)}, nil
}

func TestEightAreFetchedAtOnceAndOneThatFailsKeepsNoneBack(t *testing.T) {
	var all []*fetch.Declaration
	for i := range 20 {
		all = append(all, &fetch.Declaration{ID: "s" + strconv.Itoa(i), Type: fetch.HTTP, Required: true})
	}
	synctest.Test(t, func(t *testing.T) {
		from, begin := new(waiting), time.Now()
		values, _, err := Values(Resolve(t.Context(), from, all))
		if took := time.Since(begin); from.most.Load() != fetch.AtOnce || took != 3*time.Second {
			t.Errorf("%d at once, within %s, want %d within 3s", from.most.Load(), took, fetch.AtOnce)
		}
		if err == nil || err.Error() != "gone" || string(values["s19"].JSON) != `"s19"` || !values["s19"].Remote {
			t.Errorf("got %v, %v", values, err)
		}
	})
}

func TestFetchesEndWithTheirContext(t *testing.T) {
	all := []*fetch.Declaration{{ID: "s", OnError: fetch.UseDefault, Default: []byte("1")}}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if list := Resolve(ctx, new(waiting), all); list[0].Resolved || !errors.Is(list[0].Err, context.DeadlineExceeded) {
			t.Errorf("got %+v, want no value, not even the default", list[0])
		}
	})
}
