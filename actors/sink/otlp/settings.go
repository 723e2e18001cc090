package otlp

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/sluicehq/sluice/otlp"
	"github.com/sluicehq/sluice/otlp/export"
	"github.com/sluicehq/sluice/sigma/timespan"
)

// Schemes name the protocols.
var Schemes = []string{"otlp", "otlps", "otlphttp", "otlphttps"}

// Parameters are what a spec may have behind the question mark.
var Parameters = []string{"compression", "timeout", parameterCA, parameterCert, parameterKey, parameterDomain}

// Parameters of TLS.
const (
	parameterCA     = "ca"
	parameterCert   = "client_cert"
	parameterKey    = "client_key"
	parameterDomain = "tls_domain"
)

// Check reports a destination that cannot be right. It reads the files that it names.
func Check(scheme, target string, parameters map[string]string, now time.Time) error {
	o, err := settings(scheme, target, parameters)
	if err == nil && o.TLS != nil {
		_, err = o.TLS.Load(func() time.Time { return now }, nil)
	}
	return err
}

// settings reads the destination of a spec.
func settings(scheme, target string, parameters map[string]string) (o export.Options, err error) {
	secure := strings.HasSuffix(scheme, "s")
	o = export.Options{HTTP: strings.HasPrefix(scheme, "otlphttp"), Timeout: export.DefaultTimeout}
	port := otlp.PortGRPC
	if o.HTTP {
		port = otlp.PortHTTP
	}
	if o.Endpoint, err = endpoint(target, port); err != nil {
		return o, err
	}
	if text, ok := parameters["compression"]; ok {
		if text != "gzip" {
			return o, fmt.Errorf("unknown compression '%s' (supported: gzip)", text)
		}
		o.Gzip = true
	}
	if text, ok := parameters["timeout"]; ok {
		d, err := timespan.ParseDuration(text)
		if err != nil {
			return o, fmt.Errorf("timeout: %w", err)
		}
		if o.Timeout = d.Std(); o.Timeout <= 0 {
			return o, fmt.Errorf("timeout: '%s' is not longer than nothing", text)
		}
	}
	t := &export.TLS{}
	for _, p := range []struct {
		name  string
		value *string
	}{{parameterCA, &t.CA}, {parameterCert, &t.Cert}, {parameterKey, &t.Key}, {parameterDomain, &t.Domain}} {
		text, ok := parameters[p.name]
		switch {
		case !ok:
		case !secure:
			return o, fmt.Errorf("%s= needs TLS: write %ss://", p.name, scheme)
		case text == "":
			return o, fmt.Errorf("%s= has no value", p.name)
		default:
			*p.value = text
		}
	}
	if (t.Cert == "") != (t.Key == "") {
		return o, errors.New("client_cert and client_key must be set together for mutual TLS")
	}
	if secure {
		o.TLS = t
	}
	return o, nil
}

// endpoint reads host[:port], with at most a slash behind it.
func endpoint(target, port string) (string, error) {
	target = strings.TrimSuffix(target, "/")
	u, err := url.Parse("//" + target)
	switch {
	case target == "":
		return "", errors.New("an OTLP sink needs a host")
	case err != nil:
		return "", errors.New("the address is no host with a port") // it may hold a password
	case u.User != nil:
		return "", errors.New("an OTLP sink takes no user name or password")
	case u.Path != "" || u.Fragment != "":
		return "", fmt.Errorf("an OTLP sink takes no path: write %s, requests over HTTP go to %s there", u.Host, otlp.Path)
	case u.Hostname() == "":
		return "", errors.New("an OTLP sink needs a host")
	}
	if text := u.Port(); text != "" {
		if n, err := strconv.ParseUint(text, 10, 16); err != nil || n == 0 {
			return "", fmt.Errorf("port '%s' is not between 1 and 65535", text)
		}
		port = text
	} else if strings.HasSuffix(u.Host, ":") {
		return "", fmt.Errorf("'%s' has no port behind the colon", target)
	}
	return net.JoinHostPort(u.Hostname(), port), nil
}
