package command

import (
	"log/slog"
	"os"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/logging"
)

// logFilter reads the filter of the log. The flag wins over SLUICE_LOG, and an
// unreadable filter is no reason not to start.
func logFilter(l *config.Loaded) (logging.Filter, error) {
	text := os.Getenv("SLUICE_LOG")
	if level := l.Config.Global.LogLevel; level != "" {
		text = level
	}
	return logging.ParseFilter(text)
}

// tellFilter says that a filter was not read.
func tellFilter(log *slog.Logger, err error) {
	if err != nil {
		logging.Target(log, "sluice.config").Warn("log filter ignored", "err", err)
	}
}

// commandLogger logs only when a format was chosen.
func (e *env) commandLogger(l *config.Loaded) *slog.Logger {
	if l.Config.Global.LogFormat == "" {
		return logging.Discard()
	}
	filter, err := logFilter(l)
	log := logging.New(e.Err, logging.Format(l.Config.Global.LogFormat), filter)
	tellFilter(log, err)
	return log
}
