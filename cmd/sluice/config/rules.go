package config

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/http/server"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/timespan"
)

// ruleFor returns the rule for the text of a setting that bounds and word
// lists cannot express. The flag names it, because sections share flags.
func ruleFor(f *field) func(string) error {
	switch f.flag {
	case "rules":
		return checkPath
	case "input":
		return checkInput
	case "syslog-tz":
		return checkOffset
	case "api-addr":
		return checkAddr
	case "tls-min-version":
		return checkTLSVersion
	case "suppress":
		return checkSuppress
	case "correlation-event-mode":
		return checkEventMode
	case "on-unknown":
		return checkOnUnknown
	case "exclude-rule":
		return checkExclusion
	case "replay-from-sequence":
		return checkSequence
	case "replay-from-time":
		return checkTime
	}
	if f.path == "daemon.capture.ttl" {
		return checkTTL
	}
	return nil
}

func checkPath(s string) error {
	if s == "" {
		return errors.New("a path is empty")
	}
	return nil
}

func checkInput(s string) error {
	u, err := url.Parse(s)
	switch {
	case s == "stdin" || s == "stdin://" || s == "http":
		return nil
	case err == nil && u.Scheme == "nats" && u.Port() != "" && u.Hostname() != "" && len(u.Path) > 1:
		return nil
	case err == nil && u.Scheme == "unix" && u.Host == "" && len(u.Path) > 1:
		return nil
	}
	return fmt.Errorf("%q is no input (stdin, http, nats://host:port/subject, unix:///path)", s)
}

func checkOffset(s string) error {
	_, err := format.ParseZone(s)
	return err
}

func checkAddr(s string) error {
	_, err := server.ParseAddress(s)
	return err
}

// TLSVersion gives the plain form of a minimum version: "1.2" or "1.3".
func TLSVersion(s string) (string, error) {
	plain := strings.TrimPrefix(strings.ToLower(s), "tls")
	plain = strings.TrimPrefix(plain, "v")
	if plain != "1.2" && plain != "1.3" {
		return "", fmt.Errorf("%q is not allowed (1.2, 1.3)", s)
	}
	return plain, nil
}

func checkTLSVersion(s string) error {
	_, err := TLSVersion(s)
	return err
}

func checkSuppress(s string) error {
	_, err := timespan.ParseSpan(s)
	return err
}

func checkEventMode(s string) error {
	_, err := correlation.ParseEventMode(s)
	return err
}

func checkOnUnknown(s string) error {
	switch s {
	case "warn", "drop", "passthrough", "error":
		return nil
	}
	return fmt.Errorf("%q is not allowed (warn, drop, passthrough, error)", s)
}

func checkExclusion(s string) error {
	_, err := load.ParseExclusion(s)
	return err
}

func checkSequence(s string) error {
	if _, err := strconv.ParseUint(s, 10, 64); err != nil {
		return fmt.Errorf("%q is no sequence number", s)
	}
	return nil
}

func checkTime(s string) error {
	if _, err := time.Parse(time.RFC3339, s); err != nil {
		return fmt.Errorf("%q is no RFC 3339 time", s)
	}
	return nil
}

func checkTTL(s string) error {
	if d, err := timespan.ParseDuration(s); err != nil || d < timespan.Seconds(1) {
		return errors.New("must be at least 1s")
	}
	return nil
}
