package daemon

import (
	"time"

	"github.com/sluicehq/sluice/cmd/sluice/logging"
	"github.com/sluicehq/sluice/http/api"
)

// logLevel is the level of the daemon's log towards the API.
type logLevel struct{ level *logging.Level }

// LogLevel says what is logged.
func (l logLevel) LogLevel() api.LogLevelState { return shownLevel(l.level.State()) }

// SetLogLevel changes what is logged.
func (l logLevel) SetLogLevel(filter string, d time.Duration) (api.LogLevelState, error) {
	f, err := logging.ParseFilter(filter)
	if err != nil {
		return api.LogLevelState{}, err
	}
	return shownLevel(l.level.Set(f, logging.OriginAPI, d)), nil
}

func shownLevel(s logging.LevelState) api.LogLevelState {
	out := api.LogLevelState{Level: s.Filter, Origin: s.Origin, Then: s.Then}
	if !s.Until.IsZero() {
		until := s.Until.UTC().Truncate(time.Second)
		out.Until = &until
	}
	return out
}
