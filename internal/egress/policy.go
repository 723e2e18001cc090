package egress

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/sluicehq/sluice/internal/suggest"
)

// Policy says which addresses may be reached.
type Policy string

// The policies.
const (
	Default    Policy = "default"    // all but link-local and cloud metadata addresses
	Strict     Policy = "strict"     // public addresses only
	Permissive Policy = "permissive" // all
)

// ParsePolicy reads the name of a policy.
func ParsePolicy(text string) (Policy, error) {
	switch p := Policy(text); p {
	case Default, Strict, Permissive:
		return p, nil
	}
	names := []string{string(Default), string(Strict), string(Permissive)}
	return "", fmt.Errorf("unknown egress policy '%s' (%s)%s", text, strings.Join(names, ", "), suggest.Behind(text, names))
}

// Class is a kind of addresses, as messages name it.
type Class string

// The classes, in the order in which an address is tested for them.
const (
	LinkLocal     Class = "link-local"     // and unspecified, broadcast and multicast addresses
	CloudMetadata Class = "cloud-metadata" // that answer with credentials in public clouds
	Loopback      Class = "loopback"
	Private       Class = "private"
	Public        Class = "public"
)

// Denied is the error of a request to an address that the policy denies.
type Denied struct {
	Class  Class
	Target string // the address; of a name that only a proxy can resolve, the name
}

// Error names the class and the address.
func (d *Denied) Error() string {
	return fmt.Sprintf("egress policy denied %s address %s", d.Class, d.Target)
}

// Judge returns a *Denied if the policy denies the address. The zero Policy judges as
// Default does.
func (p Policy) Judge(a netip.Addr) error {
	if class := ClassOf(a); p.denies(class) {
		return &Denied{class, a.String()}
	}
	return nil
}

// JudgeLiteral judges the host of a URL if it is an address, in any spelling. A name is
// judged by its addresses when it is dialled. A host that only looks like an address is an
// error.
func (p Policy) JudgeLiteral(host string) error {
	a, ok, err := literal(canonicalHost(host))
	switch {
	case err != nil:
		return fmt.Errorf("host '%s': %w", host, err)
	case !ok:
		return nil
	}
	return p.Judge(a)
}

func (p Policy) denies(c Class) bool {
	switch p {
	case Permissive:
		return false
	case Strict:
		return c != Public
	}
	return c == LinkLocal || c == CloudMetadata
}

var classes = []struct {
	class    Class
	prefixes []netip.Prefix
}{
	{LinkLocal, prefixes("169.254.0.0/16", "fe80::/10", "0.0.0.0/32", "255.255.255.255/32", "224.0.0.0/4", "::/128", "ff00::/8")},
	{CloudMetadata, prefixes("fd00:ec2::254/128", "100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32")},
	{Loopback, prefixes("127.0.0.0/8", "::1/128")},
	{Private, prefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10", "100.64.0.0/10", "192.0.0.0/24", "198.18.0.0/15", "0.0.0.0/8")},
}

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		list[i] = netip.MustParsePrefix(text)
	}
	return list
}

// ClassOf returns the class of an address: of an IPv6 address that stands for an IPv4
// address, that of the IPv4 address.
func ClassOf(a netip.Addr) Class {
	a = embedded(a)
	for _, c := range classes {
		for _, p := range c.prefixes {
			if p.Contains(a) {
				return c.class
			}
		}
	}
	return Public
}

// carriers are the IPv6 addresses that stand for an IPv4 address, which begins at the
// given byte.
var carriers = []struct {
	prefix netip.Prefix
	at     int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12},    // translation (RFC 6052)
	{netip.MustParsePrefix("64:ff9b:1::/48"), 12},  // translation of local use (RFC 8215)
	{netip.MustParsePrefix("2002::/16"), 2},        // 6to4 (RFC 3056)
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12}, // translation without state (RFC 2765)
	{netip.MustParsePrefix("::/96"), 12},           // compatible (RFC 4291, section 2.5.5.1)
}

// embedded returns the address that a stands for, without a zone.
func embedded(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if !a.Is6() || a == netip.IPv6Unspecified() || a == netip.IPv6Loopback() {
		return a
	}
	for _, c := range carriers {
		if c.prefix.Contains(a) {
			b := a.As16()
			return netip.AddrFrom4([4]byte(b[c.at : c.at+4]))
		}
	}
	return a
}
