package api

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// logLevels keeps the last change.
type logLevels struct {
	state  LogLevelState
	filter string
	d      time.Duration
	err    error
}

func (l *logLevels) LogLevel() LogLevelState { return l.state }

func (l *logLevels) SetLogLevel(filter string, d time.Duration) (LogLevelState, error) {
	l.filter, l.d = filter, d
	return l.state, l.err
}

func TestLogLevel(t *testing.T) {
	until := time.Date(2026, 3, 10, 12, 0, 5, 0, time.UTC)
	stays := LogLevelState{Level: "info", Origin: "--log-level"}
	passes := LogLevelState{Level: "debug", Origin: "api", Until: &until, Then: "info"}
	const path = "/api/v1/log-level"
	for _, tc := range []struct {
		row
		state  LogLevelState
		filter string // that was set
		d      time.Duration
	}{
		{row{"a level that stays", "GET", path, "", 200, `{"level":"info","origin":"--log-level"}`}, stays, "", 0},
		{row{"one for a while", "GET", path, "", 200, `{"level":"debug","origin":"api","until":"2026-03-10T12:00:05Z","then":"info"}`}, passes, "", 0},
		{row{"a change", "PUT", path, `{"level":"debug"}`, 200, `{"level":"info","origin":"--log-level"}`}, stays, "debug", 0},
		{row{"a change for a while", "PUT", path, `{"level":"info,sluice.sink=debug","for":"10m"}`, 200, `~"until":"2026-03-10T12:00:05Z"`}, passes, "info,sluice.sink=debug", 10 * time.Minute},
		{row{"a second is enough", "PUT", path, `{"level":"off","for":"1s"}`, 200, `~"then"`}, passes, "off", time.Second},
		{row{"a day is not too long", "PUT", path, `{"level":"off","for":"24h"}`, 200, `~"then"`}, passes, "off", 24 * time.Hour},
		{row{"more is", "PUT", path, `{"level":"off","for":"24h 1s"}`, 400, `{"error":"for: 1d 1s is not between 1s and 1d"}`}, passes, "", 0},
		{row{"no time", "PUT", path, `{"level":"off","for":"0s"}`, 400, `~is not between`}, passes, "", 0},
		{row{"a number without a unit", "PUT", path, `{"level":"off","for":"10"}`, 400, `~for: invalid duration`}, passes, "", 0},
		{row{"a number", "PUT", path, `{"level":"off","for":10}`, 400, `{"error":"for must be a string"}`}, passes, "", 0},
		{row{"null", "PUT", path, `{"level":null}`, 400, `{"error":"level must be a string"}`}, stays, "", 0},
		{row{"no level", "PUT", path, `{"for":"1m"}`, 400, `{"error":"missing member level, such as debug"}`}, stays, "", 0},
		{row{"blanks", "PUT", path, `{"level":" , "}`, 400, `{"error":"missing member level, such as debug"}`}, stays, "", 0},
		{row{"a long one", "PUT", path, `{"level":"` + strings.Repeat("a", 1025) + `"}`, 400, `{"error":"level has 1025 bytes, at most 1024 are allowed"}`}, stays, "", 0},
		{row{"another member", "PUT", path, `{"level":"debug","target":"x"}`, 400, `{"error":"unknown member \"target\" (want level, for)"}`}, stays, "", 0},
		{row{"a list", "PUT", path, `["debug"]`, 400, `{"error":"body is not a JSON object"}`}, stays, "", 0},
		{row{"nothing", "PUT", path, ``, 400, `{"error":"body is not a JSON object"}`}, stays, "", 0},
		{row{"another method", "POST", path, `{}`, 405, `{"error":"method not allowed"}`}, stays, "", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := &logLevels{state: tc.state}
			s := start(t, &daemon{})
			s.Mount(Resources{LogLevel: l})
			tc.check(t, s)
			if l.filter != tc.filter || l.d != tc.d {
				t.Errorf("set %q for %s, want %q for %s", l.filter, l.d, tc.filter, tc.d)
			}
		})
	}
	s := start(t, &daemon{})
	s.Mount(Resources{LogLevel: &logLevels{err: errors.New(`log filter "loud": unknown level "loud"`)}})
	row{"an unknown level", "PUT", path, `{"level":"loud"}`, 400, `{"error":"log filter \"loud\": unknown level \"loud\""}`}.check(t, s)
	s.Mount(Resources{})
	for _, method := range []string{"GET", "PUT"} {
		row{"a fixed log", method, path, `{"level":"debug"}`, 503, `~"error":"log level is fixed"`}.check(t, s)
	}
}
