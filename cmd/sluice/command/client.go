package command

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/cmd/sluice/client"
	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/http/auth"
)

const (
	clientTimeout = 30 * time.Second
	addrEnv       = "SLUICE_ADDR"
	tokenEnv      = "SLUICE_API_TOKEN"
)

func clientFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "addr", Usage: "Address of the daemon: host:port, a URL or unix:///path; $" + addrEnv + " when absent, else daemon.api.addr"},
		configFlag(true),
		&cli.StringFlag{Name: "auth-token-env", Value: tokenEnv, Usage: "Variable that holds the bearer token"},
		&cli.StringFlag{Name: "ca", Usage: "File with the certificates of the authorities that may sign the daemon's; those of the system when absent"},
		&cli.StringFlag{Name: "cert", Usage: "File with the certificate that this client shows to the daemon"},
		&cli.StringFlag{Name: "key", Usage: "File with the key of that certificate"},
	}
}

// connect makes what a command needs that asks a daemon and prints the answer as figures
// or a table. The caller closes the client.
func (e *env) connect(c *cli.Context) (*config.Loaded, *console, *client.Client, error) {
	l, out, err := e.loadChecked(c, "")
	if err != nil {
		return nil, nil, nil, err
	}
	out.showFigures()
	cl, err := e.client(c, l, clientTimeout)
	return l, out, cl, err
}

// client makes a client for the address of the command line, else of the environment,
// else of the configuration.
func (e *env) client(c *cli.Context, l *config.Loaded, timeout time.Duration) (*client.Client, error) {
	variable := c.String("auth-token-env")
	if err := auth.CheckVariable(variable); err != nil {
		return nil, configFaultf("--auth-token-env: %w", err)
	}
	for _, name := range []string{"ca", "cert", "key"} {
		if c.IsSet(name) && c.String(name) == "" {
			return nil, configFault(errors.New("--" + name + ": the path is empty"))
		}
	}
	o := client.Options{
		CA: c.String("ca"), Cert: c.String("cert"), Key: c.String("key"),
		Token: os.Getenv(variable), Variable: variable, Timeout: timeout,
	}
	switch fromEnv := strings.TrimSpace(os.Getenv(addrEnv)); {
	case c.IsSet("addr"):
		o.Addr, o.Origin = c.String("addr"), "--addr"
	case fromEnv != "":
		o.Addr, o.Origin = fromEnv, addrEnv
	default:
		api := l.Config.Daemon.API
		o.Addr, o.Origin, o.Secure = api.Addr, "daemon.api.addr", api.TLS.Cert != ""
	}
	cl, err := client.New(o)
	if err != nil {
		return nil, configFault(err)
	}
	if w := cl.Warning(); w != "" {
		fmt.Fprintf(e.Err, "warning: %s\n", w)
	}
	return cl, nil
}
