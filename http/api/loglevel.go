package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/sluicehq/sluice/http/openapi"
	"github.com/sluicehq/sluice/http/reply"
	"github.com/sluicehq/sluice/sigma/timespan"
)

// Both methods need the same permission: what is logged is a matter of who may debug.
var logLevelRoutes = []route{{pattern: "/api/v1/log-level", endpoints: table{
	http.MethodGet: {permission: "debug:write", serve: (*Resources).getLogLevel, operation: showLogLevel},
	http.MethodPut: mutation("debug:write", (*Resources).putLogLevel, setLogLevel),
}}}

var (
	showLogLevel = operation{
		id: "getLogLevel", summary: "Show what is logged",
		answers: []openapi.Answer{replies(http.StatusOK, LogLevelState{}, "The level in force."), off(logLevelFixed)},
	}
	setLogLevel = operation{
		id: "setLogLevel", summary: "Change what is logged",
		text:    "The change lasts until the next one or the end of the daemon, or for a while.",
		body:    reads(LogLevelChange{}, true, "The level, and for how long."),
		whole:   true,
		answers: []openapi.Answer{replies(http.StatusOK, LogLevelState{}, "The level now in force."), off(logLevelFixed)},
	}
)

// LogLevel is the log level of the process.
type LogLevel interface {
	LogLevel() LogLevelState
	// SetLogLevel puts a level or a filter in force: for good, or for a while when d is
	// not zero. Then the one comes back that was last put in force for good. An error
	// says what is wrong with the text.
	SetLogLevel(filter string, d time.Duration) (LogLevelState, error)
}

// LogLevelState says what is logged.
type LogLevelState struct {
	// Level is a level, such as info, or a filter such as info,sluice.sink=debug.
	Level string `json:"level"`
	// Origin is api for a level that was put in force by a request, else --log-level,
	// SLUICE_LOG or default.
	Origin string `json:"origin"`
	// Until is when Then takes its place, in UTC. Absent for a level that stays.
	Until *time.Time `json:"until,omitempty"`
	// Then is what comes back. Absent for a level that stays.
	Then string `json:"then,omitempty"`
}

// LogLevelChange is the body of PUT /api/v1/log-level.
type LogLevelChange struct {
	// Level is a level (off, error, warn, info, debug, trace) or a filter of them by
	// target, as in SLUICE_LOG.
	Level string `json:"level"`
	// For is how long the level is in force, such as 10m: at least one second and at
	// most 24 hours. Absent is until the next change or the end of the daemon.
	For string `json:"for,omitempty"`
}

// The bounds of a change.
const (
	maxLogFilter   = 1024 // bytes
	minLogDuration = time.Second
	maxLogDuration = 24 * time.Hour
)

const logLevelFixed = "log level is fixed"

var logLevelOff = disabled(logLevelFixed, "the program that runs this daemon has a log of its own")

func (res *Resources) getLogLevel(w http.ResponseWriter, r *http.Request) {
	if res.LogLevel == nil {
		logLevelOff(res, w, r)
		return
	}
	reply.JSON(w, http.StatusOK, res.LogLevel.LogLevel())
}

func (res *Resources) putLogLevel(w http.ResponseWriter, r *http.Request) {
	if res.LogLevel == nil {
		logLevelOff(res, w, r)
		return
	}
	body, ok := readBody(w, r)
	if !ok {
		return
	}
	level, d, err := parseLogLevelChange(body)
	if err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	state, err := res.LogLevel.SetLogLevel(level, d)
	if err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	reply.JSON(w, http.StatusOK, state)
}

// parseLogLevelChange reads {"level": TEXT, "for": DURATION}.
func parseLogLevelChange(body []byte) (level string, d time.Duration, err error) {
	members, err := object(body)
	if err != nil {
		return "", 0, err
	}
	given := make(map[string]string)
	for name, value := range members {
		if name != "level" && name != "for" {
			return "", 0, fmt.Errorf("unknown member %q (want level, for)", name)
		}
		var text *string
		if json.Unmarshal(bytes.TrimSpace(value), &text) != nil || text == nil {
			return "", 0, fmt.Errorf("%s must be a string", name)
		}
		given[name] = *text
	}
	level = given["level"]
	switch {
	case strings.Trim(level, " \t\r\n,") == "":
		return "", 0, errors.New("missing member level, such as debug")
	case len(level) > maxLogFilter:
		return "", 0, fmt.Errorf("level has %d bytes, at most %d are allowed", len(level), maxLogFilter)
	}
	text, timed := given["for"]
	if !timed {
		return level, 0, nil
	}
	span, err := timespan.ParseDuration(text)
	if err != nil {
		return "", 0, fmt.Errorf("for: %w", err)
	}
	if d = span.Std(); d < minLogDuration || d > maxLogDuration {
		return "", 0, fmt.Errorf("for: %s is not between %s and %s", span, timespan.Duration(minLogDuration), timespan.Duration(maxLogDuration))
	}
	return level, d, nil
}
