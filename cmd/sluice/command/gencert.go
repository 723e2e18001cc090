package command

import (
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/cmd/sluice/trialcert"
	"github.com/sluicehq/sluice/internal/unavailable"
)

const (
	trialDays     = "90" // above what the daemon warns of
	maxTrialDays  = 3650
	maxTrialHosts = 100
	trialPort     = "9090"
)

var trialHosts = []string{"localhost", "127.0.0.1", "::1"}

func (e *env) configGenCertCommand() *cli.Command {
	return command("gen-cert", "make certificates for trying TLS out", "", []cli.Flag{
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "certs", Usage: "Directory to write to"},
		repeatedFlag("Name or address of the daemon; repeatable ["+strings.Join(trialHosts, ", ")+"]", "host"),
		&cli.StringFlag{Name: "days", Value: trialDays, Usage: fmt.Sprintf("How long the certificates are valid (1 to %d)", maxTrialDays)},
		&cli.BoolFlag{Name: "force", Usage: "Replace files that are there"},
	}, e.configGenCert)
}

func (e *env) configGenCert(c *cli.Context) error {
	dir := c.String("output")
	if dir == "" {
		return configFault(errors.New("--output: the path is empty"))
	}
	days, err := strconv.Atoi(c.String("days"))
	if err != nil || days < 1 || days > maxTrialDays {
		return configFaultf("--days: %q is not allowed (1 to %d)", c.String("days"), maxTrialDays)
	}
	hosts, err := hostsOf(c)
	if err != nil {
		return configFault(err)
	}
	if f := c.String("output-format"); f != "" {
		e.fallback(c, f, "text")
	}
	set, err := trialcert.New(hosts, time.Now(), time.Duration(days)*24*time.Hour)
	if err != nil {
		return configFault(err)
	}
	if err := set.Write(dir, c.Bool("force")); errors.Is(err, trialcert.ErrExist) {
		return configFaultf("%w; --force replaces them", err)
	} else if err != nil {
		return configFault(err)
	}
	fmt.Fprintf(e.Err, "wrote certificates and keys to %s, valid until %s\n", dir, set.End.Format(time.RFC3339))
	fmt.Fprintln(e.Err, "They are for trying TLS out. The keys have no password, and the key of the authority was thrown away.")
	_, _, left := unavailable.Setting("daemon.api.tls.cert", "tls-cert")
	return trialCommands(e.Out, dir, set.Names[0], !left)
}

// hostsOf are the hosts of the command line, each once.
func hostsOf(c *cli.Context) (hosts []string, err error) {
	given := repeated(c, "host")
	if len(given) == 0 {
		given = trialHosts
	}
	for _, text := range given {
		name, err := trialcert.ParseHost(text)
		if err != nil {
			return nil, fmt.Errorf("--host: %w", err)
		}
		if !slices.Contains(hosts, name) {
			hosts = append(hosts, name)
		}
	}
	if len(hosts) > maxTrialHosts {
		return nil, fmt.Errorf("--host: %d names are too many (at most %d)", len(hosts), maxTrialHosts)
	}
	return hosts, nil
}

// trialCommands writes the commands that use a directory of certificates: those of the
// daemon, unless this build's has no TLS, and of its clients.
func trialCommands(out io.Writer, dir, host string, daemon bool) error {
	path := func(name string) string {
		name = filepath.Join(dir, name)
		if strings.HasPrefix(name, "-") {
			name = "." + string(filepath.Separator) + name
		}
		return name
	}
	ca, cert, key := path(trialcert.CAFile), path(trialcert.ClientCertFile), path(trialcert.ClientKeyFile)
	host = strings.Replace(host, "*.", "sluice.", 1)
	listen := "0.0.0.0"
	if slices.Contains(trialHosts, host) {
		listen = "127.0.0.1"
	}
	if strings.Contains(host, ":") {
		listen = map[bool]string{true: "::1", false: "::"}[host == "::1"]
	}
	at := "https://" + net.JoinHostPort(host, trialPort)
	var b strings.Builder
	if daemon {
		fmt.Fprintf(&b, "# Run the daemon; it answers only those who show a certificate of the authority:\nsluice engine daemon -r rules/ --input http --api-addr %s --tls-cert %s --tls-key %s --tls-client-ca %s\n",
			quote(net.JoinHostPort(listen, trialPort)), quote(path(trialcert.ServerCertFile)), quote(path(trialcert.ServerKeyFile)), quote(ca))
	}
	fmt.Fprintf(&b, "# Ask it with sluice:\nsluice engine status --addr %s --ca %s --cert %s --key %s\n", quote(at), quote(ca), quote(cert), quote(key))
	fmt.Fprintf(&b, "# Ask it with curl:\ncurl --cacert %s --cert %s --key %s %s\n",
		quote(ca), quote(strings.NewReplacer(`\`, `\\`, ":", `\:`).Replace(cert)), quote(key), quote(at+"/api/v1/status"))
	_, err := io.WriteString(out, b.String())
	return err
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:,@%+=-]+$`)

// quote makes a word of a shell of a text.
func quote(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
