package command

import (
	"log/slog"
	"os"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/logging"
)

// logger builds the root logger of a command. The flag wins over SLUICE_LOG,
// and an unreadable filter is no reason not to start.
func (e *env) logger(l *config.Loaded, format logging.Format) *slog.Logger {
	text := os.Getenv("SLUICE_LOG")
	if level := l.Config.Global.LogLevel; level != "" {
		text = level
	}
	filter, err := logging.ParseFilter(text)
	log := logging.New(e.Err, format, filter)
	if err != nil {
		logging.Target(log, "sluice.config").Warn("log filter ignored", "err", err)
	}
	return log
}

// commandLogger logs only when a format was chosen.
func (e *env) commandLogger(l *config.Loaded) *slog.Logger {
	if l.Config.Global.LogFormat == "" {
		return logging.Discard()
	}
	return e.logger(l, logging.Format(l.Config.Global.LogFormat))
}
