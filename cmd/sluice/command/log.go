package command

import (
	"cmp"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/actors/evaluate"
	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/logging"
	"github.com/sluicehq/sluice/cmd/sluice/terminal"
	"github.com/sluicehq/sluice/internal/redact"
)

// logFilter reads the filter of the log, and says where it comes from. The flag wins
// over SLUICE_LOG, and an unreadable filter is no reason not to start.
func logFilter(l *config.Loaded) (f logging.Filter, origin string, err error) {
	text, origin := os.Getenv("SLUICE_LOG"), "SLUICE_LOG"
	if level := l.Config.Global.LogLevel; level != "" {
		text, origin = level, "--log-level"
	}
	if f, err = logging.ParseFilter(text); err != nil || text == "" {
		origin = logging.OriginDefault
	}
	return f, origin, err
}

// tellWarnings logs what is odd about a configuration that is good enough to start with:
// where programs read the log they read this, too.
func tellWarnings(log *slog.Logger, l *config.Loaded, found config.Problems) {
	log = logging.Target(log, "sluice.config")
	for _, k := range l.UnknownKeys {
		log.Warn("unknown config key", problemAttrs(k)...)
	}
	for _, w := range slices.Concat(l.Ignored, l.Warnings, found) {
		log.Warn(w.Message, problemAttrs(w)...)
	}
}

// problemAttrs are the place of a problem and what was probably meant.
func problemAttrs(p config.Problem) (attrs []any) {
	for _, a := range []struct{ name, value string }{{"key", p.Key}, {"file", p.File}, {"suggestion", p.Suggestion}} {
		if a.value != "" {
			attrs = append(attrs, a.name, a.value)
		}
	}
	if p.Line > 0 {
		attrs = append(attrs, "line", p.Line)
	}
	return attrs
}

// tellFilter says that a filter was not read.
func tellFilter(log *slog.Logger, err error) {
	if err != nil {
		logging.Target(log, "sluice.config").Warn("log filter ignored", "err", err)
	}
}

// daemonLogFormat is the form that was chosen, else text for a person who watches and
// JSON for programs.
func (e *env) daemonLogFormat(l *config.Loaded) logging.Format {
	switch chosen := l.Config.Global.LogFormat; {
	case chosen != "":
		return logging.Format(chosen)
	case terminal.Is(e.Err):
		return logging.Text
	}
	return logging.JSON
}

// announce is the first record of a daemon's log: what starts, with what, and
// the attributes of what protects it.
func announce(log *slog.Logger, l *config.Loaded, protection []any) {
	d := &l.Config.Daemon
	sinks := slices.Clone(d.Output.Sinks)
	if len(sinks) == 0 {
		sinks = sink.DefaultConfig().Sinks
	}
	for i, s := range sinks {
		sinks[i] = redact.Text(s)
	}
	from := slices.Clone(d.Input.Sources)
	for i, s := range from {
		from[i] = redact.Text(s)
	}
	attrs := []any{
		"version", version(), "config", cmp.Or(strings.Join(l.Files, ", "), "none"), "rules", strings.Join(d.Rules, ", "),
	}
	if len(d.Pipelines) > 0 {
		attrs = append(attrs, "pipelines", strings.Join(d.Pipelines, ", "))
	}
	if d.AlertPipeline != "" {
		attrs = append(attrs, "alert_pipeline", d.AlertPipeline)
	}
	attrs = append(attrs, "input", strings.Join(from, ", "), "sinks", strings.Join(sinks, ", "))
	if d.Output.DLQ != "" {
		attrs = append(attrs, "dlq", redact.Text(d.Output.DLQ))
	}
	attrs = append(append(attrs, "addr", d.API.Addr), protection...)
	logging.Target(log, "sluice.server").Info("starting", attrs...)
	if flags := d.Engine.Given(); len(flags) > 0 {
		logging.Target(log, "sluice.engine").Warn("settings have "+evaluate.NoEffect, "settings", strings.Join(flags, ", "))
	}
}

// commandLogger logs only when a format was chosen.
func (e *env) commandLogger(l *config.Loaded) *slog.Logger {
	if l.Config.Global.LogFormat == "" {
		return logging.Discard()
	}
	filter, _, err := logFilter(l)
	log := logging.New(e.Err, logging.Format(l.Config.Global.LogFormat), filter)
	tellFilter(log, err)
	return log
}
