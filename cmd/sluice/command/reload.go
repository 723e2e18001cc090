package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/cmd/sluice/terminal"
	"github.com/sluicehq/sluice/sigma/timespan"
)

const (
	waitDefault = "30s"
	waitEvery   = 200 * time.Millisecond // between two looks at the status
)

func (e *env) configReloadCommand() *cli.Command {
	flags := append(clientFlags(), optionalFlag("wait", "DURATION", waitDefault,
		"Wait until the reload has ended and say how; exit code 1 when it failed ["+waitDefault+"]"))
	return command("reload", "tell a running daemon to reload", "", flags, e.configReload)
}

func (e *env) configReload(c *cli.Context) error {
	l, _, err := e.loadChecked(c, "")
	if err != nil {
		return err
	}
	var patience timespan.Duration
	if c.IsSet("wait") {
		text := c.Generic("wait").(*optional).text
		if patience, err = timespan.ParseDuration(text); err != nil || patience <= 0 {
			return configFaultf("--wait: %q is no duration to wait (such as --wait=%s or --wait=2m)", text, waitDefault)
		}
	}
	cl, err := e.client(c, l, clientTimeout)
	if err != nil {
		return err
	}
	defer cl.Close()
	const reload, status = "/api/v1/reload", "/api/v1/status"
	if _, err := cl.Ask(c.Context, http.MethodPost, reload, nil); err != nil {
		return configFault(err)
	}
	fmt.Fprintf(e.Err, "reload requested: %s\n", cl.Place(reload))
	if !c.IsSet("wait") {
		return nil
	}
	outcome, err := awaitReload(c.Context, patience.Std(), func(ctx context.Context) ([]byte, error) {
		return cl.Ask(ctx, http.MethodGet, status, nil)
	})
	var unreadable *unreadableError
	switch {
	case errors.As(err, &unreadable):
		return configFault(cl.Unreadable(http.MethodGet, status, err))
	case err != nil:
		return configFault(err)
	case !outcome.OK:
		return &exitError{exitFindings, errors.New(terminal.Printable(outcome.Error))}
	}
	fmt.Fprintln(e.Err, "reloaded")
	return nil
}

// reloadStatus is what the status tells of reloads.
type reloadStatus struct {
	Pending *bool          `json:"reload_pending"`
	Last    *reloadOutcome `json:"last_reload"`
}

type reloadOutcome struct {
	OK    bool      `json:"ok"`
	At    time.Time `json:"at"`
	Error string    `json:"error"`
}

// unreadableError is an answer that does not tell what it should.
type unreadableError struct{ text string }

func (e *unreadableError) Error() string { return e.text }

// awaitReload looks at the status until no reload is pending, and returns how the
// last one ended.
func awaitReload(ctx context.Context, patience time.Duration, ask func(context.Context) ([]byte, error)) (*reloadOutcome, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		body, err := ask(ctx)
		if err != nil && ctx.Err() == nil {
			return nil, err
		}
		if err == nil {
			var s reloadStatus
			if err := json.Unmarshal(body, &s); err != nil {
				return nil, &unreadableError{err.Error()}
			}
			switch {
			case s.Pending == nil:
				return nil, &unreadableError{"it says nothing of reloads; is the daemon older than this command?"}
			case *s.Pending:
			case s.Last == nil:
				return nil, &unreadableError{"no reload is pending, and none has ended; was the daemon restarted?"}
			default:
				return s.Last, nil
			}
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("no outcome after %s (the reload may still end: sluice engine status shows it)", timespan.Duration(patience))
		case <-time.After(waitEvery):
		}
	}
}
