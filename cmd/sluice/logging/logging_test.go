package logging

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestLinesHaveTheirExactForm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the clock of a bubble starts at midnight of 2000-01-01
		for _, tc := range []struct {
			name   string
			format Format
			write  func(*slog.Logger)
			want   string
		}{
			{
				"a message alone", JSON, func(l *slog.Logger) { l.Info("rules loaded") },
				`{"timestamp":"2000-01-01T00:00:00.000000Z","level":"INFO","target":"sluice.engine","fields":{"message":"rules loaded"}}`,
			},
			{"attributes of every kind", JSON, func(l *slog.Logger) {
				l.With("sink", "a<b").Warn("sink retry", "n", 3, "ok", true, "err", errors.New("no \"room\""), "after", time.Second, "nan", nil)
			}, `{"timestamp":"2000-01-01T00:00:00.000000Z","level":"WARN","target":"sluice.engine","fields":{"message":"sink retry","sink":"a<b","n":3,"ok":true,"err":"no \"room\"","after":"1s","nan":null}}`},
			{"groups are dotted", JSON, func(l *slog.Logger) {
				l.WithGroup("a").Error("x", "b", 1, slog.Group("c", "d", 2))
			}, `{"timestamp":"2000-01-01T00:00:00.000000Z","level":"ERROR","target":"sluice.engine","fields":{"message":"x","a.b":1,"a.c.d":2}}`},
			{"spans", JSON, func(l *slog.Logger) {
				Span(Span(l, "load_rules", slog.String("path", "/r")), "resolve_source").Info("x")
			}, `{"timestamp":"2000-01-01T00:00:00.000000Z","level":"INFO","target":"sluice.engine","fields":{"message":"x"},"span":{"name":"resolve_source"},"spans":[{"name":"load_rules","path":"/r"},{"name":"resolve_source"}]}`},
			{
				"text", Text, func(l *slog.Logger) { l.Info("rules loaded", "path", "/a b", "n", 2) },
				`2000-01-01T00:00:00.000000Z  INFO sluice.engine: rules loaded path="/a b" n=2`,
			},
			{
				"text on one line whatever it holds", Text, func(l *slog.Logger) { l.Info("x", "v", "a\nb\x1b[0m") },
				`2000-01-01T00:00:00.000000Z  INFO sluice.engine: x v="a\nb\x1b[0m"`,
			},
			{
				"text that hides or turns around what stands beside it", Text, func(l *slog.Logger) { l.Info("x", "v", "a\u202eb", "w", "\u009b2J", "x", "\xff", "y", "é") },
				`2000-01-01T00:00:00.000000Z  INFO sluice.engine: x v="a\u202eb" w="\u009b2J" x="\xff" y=é`,
			},
		} {
			var b bytes.Buffer
			tc.write(Target(New(&b, tc.format, DefaultFilter()), "sluice.engine"))
			if got := b.String(); got != tc.want+"\n" {
				t.Errorf("%s:\ngot  %swant %s", tc.name, got, tc.want)
			}
			if tc.format == JSON && !json.Valid(b.Bytes()) {
				t.Errorf("%s: not JSON: %s", tc.name, b.String())
			}
		}
	})
}

func TestTheLongestTargetPrefixDecides(t *testing.T) {
	f, err := ParseFilter("warn, sluice.sink=debug ,sluice.sink.nats=off,trace=info")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, target string
		level        slog.Level
		want         bool
	}{
		{"the rest obeys the bare level", "sluice.engine", slog.LevelInfo, false},
		{"and passes what is worse", "sluice.engine", slog.LevelWarn, true},
		{"a target has its own level", "sluice.sink", slog.LevelDebug, true},
		{"it covers what is below", "sluice.sink.file", slog.LevelDebug, true},
		{"but the longer prefix wins", "sluice.sink.nats", slog.LevelError, false},
	} {
		if got := f.Enabled(tc.target, tc.level); got != tc.want {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
	}
	for _, bad := range []string{"loud", "sluice.sink=", "=debug", "info,x=y"} {
		f, err := ParseFilter(bad)
		if err == nil {
			t.Errorf("filter %q was read", bad)
		}
		if !f.Enabled("x", slog.LevelInfo) || f.Enabled("x", slog.LevelDebug) {
			t.Errorf("filter %q does not fall back to info", bad)
		}
	}
}

func TestDisabledLinesAreNotWritten(t *testing.T) {
	var b bytes.Buffer
	l := New(&b, JSON, DefaultFilter())
	l.Debug("x")
	l.Log(context.Background(), LevelTrace, "x")
	if b.Len() != 0 {
		t.Errorf("got %q, want nothing", b.String())
	}
}

func TestConcurrentLinesStayWhole(t *testing.T) {
	var b bytes.Buffer
	l := New(&b, JSON, DefaultFilter())
	done := make(chan struct{})
	for range 8 {
		go func() {
			for range 50 {
				l.Info("x", "text", strings.Repeat("y", 100))
			}
			done <- struct{}{}
		}()
	}
	for range 8 {
		<-done
	}
	for line := range strings.Lines(b.String()) {
		if !json.Valid([]byte(line)) {
			t.Fatalf("torn line %q", line)
		}
	}
}
