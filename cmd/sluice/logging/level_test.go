package logging

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func filter(t *testing.T, text string) Filter {
	t.Helper()
	f, err := ParseFilter(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// passes names the levels that l writes for a target.
func passes(l *Level, target string) (names string) {
	for _, level := range []slog.Level{slog.LevelError, slog.LevelWarn, slog.LevelInfo, slog.LevelDebug, LevelTrace} {
		if l.Enabled(target, level) {
			names += levelName(level)[:1]
		}
	}
	return names
}

func TestALevelChosenForAWhileGivesWayToTheOneThatStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the clock of a bubble starts at midnight of 2000-01-01
		l := NewLevel(filter(t, "warn"), "SLUICE_LOG")
		begin := time.Now()
		want := func(what, levels string, state LevelState) {
			t.Helper()
			synctest.Wait()
			if got := passes(l, "sluice.sink"); got != levels {
				t.Errorf("%s: levels %s are written, want %s", what, got, levels)
			}
			if got := l.State(); got != state {
				t.Errorf("%s: got %+v, want %+v", what, got, state)
			}
		}
		want("at the begin", "EW", LevelState{Filter: "warn", Origin: "SLUICE_LOG"})
		l.Set(filter(t, "debug"), OriginAPI, time.Minute)
		want("for a while", "EWID", LevelState{"debug", OriginAPI, begin.Add(time.Minute), "warn"})
		time.Sleep(time.Minute - time.Nanosecond)
		want("until the last moment", "EWID", LevelState{"debug", OriginAPI, begin.Add(time.Minute), "warn"})
		time.Sleep(time.Nanosecond)
		want("afterwards", "EW", LevelState{Filter: "warn", Origin: "SLUICE_LOG"})

		begin = time.Now()
		l.Set(filter(t, "debug"), OriginAPI, time.Minute)
		time.Sleep(30 * time.Second)
		l.Set(filter(t, "trace"), OriginAPI, time.Minute)
		time.Sleep(40 * time.Second)
		want("a second choice for a while has its own time", "EWIDT", LevelState{"trace", OriginAPI, begin.Add(90 * time.Second), "warn"})
		time.Sleep(20 * time.Second)
		want("and the one that stays comes back, not the first", "EW", LevelState{Filter: "warn", Origin: "SLUICE_LOG"})

		l.Set(filter(t, "debug"), OriginAPI, time.Minute)
		l.Set(filter(t, "error"), OriginAPI, 0)
		want("a choice to stay ends one for a while", "E", LevelState{Filter: "error", Origin: OriginAPI})
		time.Sleep(time.Hour)
		want("for good", "E", LevelState{Filter: "error", Origin: OriginAPI})
	})
}

func TestLoggersObeyTheLevelAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		level := NewLevel(DefaultFilter(), OriginDefault)
		log, q := NewQueued(&b, Text, level)
		old := Target(log, "sluice.sink").With("sink", "file") // made before
		if LevelOf(log) != level || LevelOf(old) != level {
			t.Error("loggers do not know their level")
		}
		if LevelOf(New(&b, Text, DefaultFilter())) != nil || LevelOf(Discard()) != nil {
			t.Error("loggers with a fixed filter know a level")
		}
		old.Debug("one")
		level.Set(filter(t, "off,sluice.sink=trace"), OriginAPI, time.Minute)
		old.Debug("two")
		log.Error("three")
		Target(log, "sluice.sink").Log(context.Background(), LevelTrace, "four")
		time.Sleep(time.Minute)
		synctest.Wait()
		old.Debug("five")
		log.Error("six")
		q.Close(time.Second)
		want := []string{
			`sluice.server: log level changed level="off,sluice.sink=trace" origin=api until=2000-01-01T00:01:00Z`, "sluice.sink: two", "sluice.sink: four",
			"sluice.server: log level changed level=info origin=default", "sluice: six",
		}
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if len(lines) != len(want) {
			t.Fatalf("got\n%s\nwant %d lines", b.String(), len(want))
		}
		for i := range want {
			if !strings.Contains(lines[i], want[i]) {
				t.Errorf("line %d: got %s, want %s in it", i, lines[i], want[i])
			}
		}
	})
}

func TestFiltersAreWrittenAsTheyAreRead(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", "", "info"},
		{"a level in any case", "DEBUG", "debug"},
		{"off", "off", "off"},
		{"targets alone", "sluice.sink=debug, sluice.http=off", "info,sluice.sink=debug,sluice.http=off"},
		{"the level of the rest goes first", "sluice.sink=trace,warn", "warn,sluice.sink=trace"},
	} {
		if got := filter(t, tc.text).String(); got != tc.want || filter(t, got).String() != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
	}
}
