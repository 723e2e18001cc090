package egress

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"strconv"
	"strings"
)

var errNoAddress = errors.New("the host looks like an IPv4 address, but is none")

// literal reads a host that is an address. Beside the usual spellings it knows those of
// inet_aton, which resolvers and proxies understand, too: 2852039166, 0xA9FEA9FE,
// 0251.0376.169.254, 169.254.43518. A host whose last part is a number is an address or
// an error, never a name.
func literal(host string) (a netip.Addr, ok bool, err error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return a, true, nil
	}
	parts := strings.Split(strings.TrimSuffix(host, "."), ".")
	if last := parts[len(parts)-1]; !numeric(last) {
		return netip.Addr{}, false, nil
	}
	if len(parts) > 4 {
		return netip.Addr{}, false, errNoAddress
	}
	var sum uint64
	for i, part := range parts {
		n, err := number(part)
		limit := uint64(1) << 8
		if i == len(parts)-1 {
			limit = 1 << (8 * (5 - len(parts)))
		}
		if err != nil || n >= limit {
			return netip.Addr{}, false, errNoAddress
		}
		if i == len(parts)-1 {
			sum += n
		} else {
			sum += n << (8 * (3 - i))
		}
	}
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], uint32(sum))
	return netip.AddrFrom4(b), true, nil
}

// numeric reports whether a part of a host is meant as a number.
func numeric(part string) bool {
	if hex, ok := cutHex(part); ok {
		return strings.Trim(hex, "0123456789abcdefABCDEF") == ""
	}
	return part != "" && strings.Trim(part, "0123456789") == ""
}

func cutHex(part string) (string, bool) {
	if len(part) >= 2 && part[0] == '0' && part[1]|0x20 == 'x' {
		return part[2:], true
	}
	return part, false
}

// number reads a part: decimal, octal behind 0, hexadecimal behind 0x.
func number(part string) (uint64, error) {
	if hex, ok := cutHex(part); ok {
		if hex == "" {
			return 0, nil
		}
		return strconv.ParseUint(hex, 16, 64)
	}
	if len(part) > 1 && part[0] == '0' {
		return strconv.ParseUint(part[1:], 8, 64)
	}
	return strconv.ParseUint(part, 10, 64)
}
