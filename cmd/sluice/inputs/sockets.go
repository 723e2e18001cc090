package inputs

import (
	"fmt"
	"strconv"
	"time"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/sources/syslog"
	"github.com/sluicehq/sluice/sources/unix"
)

// maxConnections is a parameter of the kinds that accept connections. It stands for the
// setting of the kind's section.
const maxConnections = "max_connections"

// connections is how many an input may have at once.
func (s Spec) connections(otherwise int) (int, error) {
	text, given := s.Options[maxConnections]
	if !given {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s must be a number, at least 1, not '%s'", maxConnections, text)
	}
	return n, nil
}

func checkUnix(s Spec) error {
	if _, err := s.connections(1); err != nil {
		return err
	}
	return unix.Check(s.Target)
}

func openUnix(env Environment, s Spec) (Opened, error) {
	most, err := s.connections(env.Config.Input.Unix.MaxConnections)
	if err != nil {
		return Opened{}, err
	}
	source, err := unix.Listen(s.Target, most, env.Log, env.Metrics.connections.Of(unix.Name))
	if err != nil {
		return Opened{}, err
	}
	return Opened{Source: source}, nil
}

// transports of syslog by scheme.
var transports = map[string]syslog.Transport{"syslog+udp": syslog.UDP, "syslog+tcp": syslog.TCP, "syslog+tls": syslog.TLS}

func checkSyslog(s Spec) error {
	if _, given := s.Options[maxConnections]; given && transports[s.Scheme] == syslog.UDP {
		return fmt.Errorf("%s is for connections, which UDP does not have", maxConnections)
	}
	if _, err := s.connections(1); err != nil {
		return err
	}
	return syslog.Check(s.Target)
}

func checkSyslogTLS(cfg *config.Daemon, s Spec, _ time.Time, fault func(key string, err error)) {
	if transports[s.Scheme] == syslog.TLS {
		cfg.Input.Syslog.TLS.Check(func(key string, err error) { fault("tls."+key, err) })
	}
}

func openSyslog(env Environment, s Spec) (Opened, error) {
	o := syslog.Options{Config: env.Config.Input.Syslog, Log: env.Log, Metrics: env.Metrics.syslog, Connections: env.Metrics.connections}
	var err error
	if o.Config.MaxConnections, err = s.connections(o.Config.MaxConnections); err != nil {
		return Opened{}, err
	}
	source, err := syslog.Listen(transports[s.Scheme], s.Target, o)
	if err != nil {
		return Opened{}, err
	}
	return Opened{Source: source}, nil
}
