package trialcert

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strings"
)

// label is a part of a host name. Digits alone are the end of an address only.
var (
	label  = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$`)
	digits = regexp.MustCompile(`^[0-9]+$`)
)

// ParseHost returns a host name, which may begin with "*.", or an IP address in the form
// that certificates have.
func ParseHost(text string) (string, error) {
	name := strings.ToLower(strings.TrimSuffix(text, "."))
	if inside, ok := strings.CutPrefix(name, "["); ok {
		name = strings.TrimSuffix(inside, "]")
	}
	if ip, err := netip.ParseAddr(name); err == nil {
		if ip.Zone() != "" {
			return "", fmt.Errorf("%q: a certificate has no zones; write the address without %%%s", text, ip.Zone())
		}
		return ip.Unmap().String(), nil
	}
	if name == "" {
		return "", errors.New("the name is empty")
	}
	if strings.Contains(name, "://") {
		return "", fmt.Errorf("%q is a URL; write the host alone", text)
	}
	if host, _, err := net.SplitHostPort(text); err == nil && host != "" {
		return "", fmt.Errorf("%q has a port, which a certificate does not know; write %s", text, host)
	}
	labels := strings.Split(strings.TrimPrefix(name, "*."), ".")
	for _, l := range labels {
		if !label.MatchString(l) {
			return "", noHost(text)
		}
	}
	if len(name) > 253 || digits.MatchString(labels[len(labels)-1]) {
		return "", noHost(text)
	}
	return name, nil
}

func noHost(text string) error {
	for _, r := range text {
		if r > 0x7f {
			return fmt.Errorf("%q is no host name: write an international name as DNS has it (xn--...)", text)
		}
	}
	return fmt.Errorf("%q is no host name and no IP address", text)
}
