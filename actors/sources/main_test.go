package sources

import (
	"bufio"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/sources/fetch"
	"github.com/sluicehq/sluice/state"
)

const childDir = "SLUICE_SOURCES_TEST_DIR"

// TestMain lets the test binary be the process that is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		storeForEver(dir)
	}
	leaktest.Main(m)
}

// storeForEver stores one value after the other and says which are begun with.
func storeForEver(dir string) {
	store, err := state.Open(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		panic(err)
	}
	r := newRows(store.Table(TableName), slog.New(slog.DiscardHandler))
	r.restore(newBook([]*fetch.Declaration{declared("f")}))
	out := bufio.NewWriter(os.Stdout)
	for n := 0; ; n++ {
		fmt.Fprintln(out, n)
		_ = out.Flush()
		if err := r.fulfil("f", &row{Version: rowVersion, Fingerprint: declared("f").Fingerprint(), UpdatedAt: 1, Value: numbered(n)}); err != nil {
			panic(err)
		}
	}
}

// numbered is a value that is too long to be written at once.
func numbered(n int) []byte { return fmt.Appendf(nil, `[%d,"%0400000d"]`, n, n) }

// declared is a declaration of a required file.
func declared(id string, change ...func(*fetch.Declaration)) *fetch.Declaration {
	d := &fetch.Declaration{
		ID: id, Type: fetch.File, Format: fetch.JSON, Path: id + ".json", Required: true, OnError: fetch.UseCached,
		Refresh: fetch.Refresh{Policy: fetch.Once}, Timeout: 30 * time.Second, File: "sources.yml",
	}
	for _, f := range change {
		f(d)
	}
	return d
}

func optional(d *fetch.Declaration) { d.Required = false }

func onError(p fetch.Policy) func(*fetch.Declaration) {
	return func(d *fetch.Declaration) { d.OnError = p }
}

func every(t time.Duration) func(*fetch.Declaration) {
	return func(d *fetch.Declaration) { d.Refresh = fetch.Refresh{Policy: fetch.Interval, Every: t} }
}

func refreshed(p fetch.RefreshPolicy) func(*fetch.Declaration) {
	return func(d *fetch.Declaration) { d.Refresh = fetch.Refresh{Policy: p} }
}
