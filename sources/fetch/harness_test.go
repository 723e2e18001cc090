package fetch_test

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/internal/logtest"
	"github.com/sluicehq/sluice/internal/natsconn"
	"github.com/sluicehq/sluice/sources/fetch"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// client is a client and its log, down to debug.
func client(t *testing.T, o fetch.Options) (*fetch.Client, *logtest.Buffer) {
	t.Helper()
	j := new(logtest.Buffer)
	o.Log = slog.New(slog.NewTextHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug}))
	o.NATS = natsconn.Client{Config: o.NATS.Config, Log: o.Log}
	if o.Version == "" {
		o.Version = "1.2.3"
	}
	c := fetch.New(o)
	t.Cleanup(c.Close)
	return c, j
}

// write writes a file of a test.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// declared loads the only declaration of a text.
func declared(t *testing.T, text string) *fetch.Declaration {
	t.Helper()
	all, _, err := fetch.Load([]string{write(t, "sources.yml", "sources:\n- "+text+"\n")})
	if err != nil || len(all) != 1 {
		t.Fatalf("load %s: %d declarations, %v", text, len(all), err)
	}
	return all[0]
}

// get fetches once with a client of its own.
func get(t *testing.T, declaration string) (string, error) {
	t.Helper()
	c, _ := client(t, fetch.Options{})
	v, err := c.Fetch(t.Context(), declared(t, declaration), nil)
	return string(v.JSON), err
}

// kind is the kind of an error and its text; empty for none.
func kind(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var e *fetch.Error
	if !errors.As(err, &e) {
		t.Errorf("%v is no *fetch.Error", err)
		return err.Error()
	}
	if want := fmt.Sprintf("source '%s': %s", e.Source, e.Text()); err.Error() != want {
		t.Errorf("the text is %s, want %s", err, want)
	}
	return string(e.Kind) + " | " + e.Text()
}

// fails reports whether an error has the kind and holds the text, which are separated by a
// bar in want; empty for no error.
func fails(t *testing.T, err error, want string) bool {
	t.Helper()
	got := kind(t, err)
	k, text, _ := strings.Cut(want, "|")
	return (got == "") == (want == "") && strings.HasPrefix(got, k) && strings.Contains(got, text)
}
