package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"
)

func TestClassesOfAddresses(t *testing.T) {
	for class, addresses := range map[Class][]string{
		LinkLocal: {
			"169.254.0.0", "169.254.169.254", "169.254.255.255", "fe80::1", "fe80::1%eth0", "febf::1", "0.0.0.0", "255.255.255.255", "224.0.0.1", "239.255.255.255", "::", "ff02::1",
			"::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a9fe:a9fe", "2002:a9fe:a9fe::1", "::169.254.169.254", "::ffff:0:169.254.169.254", "::ffff:0.0.0.0",
		},
		CloudMetadata: {"fd00:ec2::254", "100.100.100.200", "168.63.129.16", "192.0.0.192", "::ffff:168.63.129.16", "2002:6464:64c8::"},
		Loopback:      {"127.0.0.1", "127.255.255.255", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "::127.0.0.1"},
		Private: {
			"10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fc00::1", "fdff::1", "fd00:ec2::255", "fec0::1", "100.64.0.1", "100.127.255.255", "192.0.0.1", "198.18.0.1", "198.19.255.255", "0.0.0.1", "0.255.0.1",
			"::ffff:10.1.2.3", "64:ff9b::a00:1", "2002:c0a8:101::",
		},
		Public: {"8.8.8.8", "1.1.1.1", "169.253.255.255", "169.255.0.0", "172.15.0.1", "172.32.0.1", "100.63.255.255", "100.128.0.1", "192.0.1.1", "198.20.0.1", "223.255.255.255", "2001:db8::1", "2606:4700::1111", "64:ff9b::808:808", "2002:808:808::", "::ffff:8.8.8.8"},
	} {
		for _, text := range addresses {
			if got := ClassOf(netip.MustParseAddr(text)); got != class {
				t.Errorf("%s: got %s, want %s", text, got, class)
			}
		}
	}
}

func TestPolicies(t *testing.T) {
	for _, tc := range []struct {
		policy  Policy
		address string
		want    string // empty for allowed
	}{
		{Default, "169.254.169.254", "egress policy denied link-local address 169.254.169.254"},
		{Default, "::ffff:169.254.169.254", "egress policy denied link-local address ::ffff:169.254.169.254"},
		{Default, "fd00:ec2::254", "egress policy denied cloud-metadata address fd00:ec2::254"},
		{Default, "100.100.100.200", "egress policy denied cloud-metadata address 100.100.100.200"},
		{Default, "64:ff9b::a9fe:a9fe", "egress policy denied link-local address 64:ff9b::a9fe:a9fe"},
		{Default, "10.0.0.1", ""},
		{Default, "127.0.0.1", ""},
		{Default, "100.64.0.1", ""},
		{Default, "::ffff:10.1.2.3", ""},
		{"", "169.254.169.254", "egress policy denied link-local address 169.254.169.254"},
		{"", "127.0.0.1", ""},
		{Strict, "192.168.1.1", "egress policy denied private address 192.168.1.1"},
		{Strict, "fc00::1", "egress policy denied private address fc00::1"},
		{Strict, "::1", "egress policy denied loopback address ::1"},
		{Strict, "169.254.169.254", "egress policy denied link-local address 169.254.169.254"},
		{Strict, "192.0.0.192", "egress policy denied cloud-metadata address 192.0.0.192"},
		{Strict, "::ffff:10.1.2.3", "egress policy denied private address ::ffff:10.1.2.3"},
		{Strict, "8.8.8.8", ""},
		{Permissive, "169.254.169.254", ""},
		{Permissive, "fd00:ec2::254", ""},
		{Permissive, "127.0.0.1", ""},
	} {
		err := tc.policy.Judge(netip.MustParseAddr(tc.address))
		var denied *Denied
		if err == nil && tc.want != "" || err != nil && (err.Error() != tc.want || !errors.As(err, &denied)) {
			t.Errorf("%q, %s: got %v, want %q", tc.policy, tc.address, err, tc.want)
		}
	}
}

func TestNamesOfPolicies(t *testing.T) {
	for _, p := range []Policy{Default, Strict, Permissive} {
		c := Config{EgressPolicy: string(p)}
		if got, err := ParsePolicy(string(p)); got != p || err != nil || c.Validate() != nil || c.Policy() != p {
			t.Errorf("%s: got %s, %v", p, got, err)
		}
	}
	const want = "unknown egress policy 'strickt' (default, strict, permissive) (did you mean 'strict'?)"
	if err := (Config{EgressPolicy: "strickt"}).Validate(); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if DefaultConfig().Policy() != Default {
		t.Errorf("the default is %s", DefaultConfig().Policy())
	}
}

func TestHostsThatAreAddresses(t *testing.T) {
	for _, tc := range []struct {
		host, want string // empty for a name
		fails      bool
	}{
		{"169.254.169.254", "169.254.169.254", false},
		{"2852039166", "169.254.169.254", false},
		{"0xA9FEA9FE", "169.254.169.254", false},
		{"0xa9.0xfe.0XA9.0xfe", "169.254.169.254", false},
		{"0251.0376.0251.0376", "169.254.169.254", false},
		{"025177524776", "169.254.169.254", false},
		{"169.254.43518", "169.254.169.254", false},
		{"169.16689662", "169.254.169.254", false},
		{"169.254.169.254.", "169.254.169.254", false},
		{"127.1", "127.0.0.1", false},
		{"0", "0.0.0.0", false},
		{"0x", "0.0.0.0", false},
		{"4294967295", "255.255.255.255", false},
		{"::1", "::1", false},
		{"fe80::1%eth0", "fe80::1%eth0", false},
		{"::ffff:1.2.3.4", "::ffff:1.2.3.4", false},
		{"example.com", "", false},
		{"example.com.", "", false},
		{"1.example", "", false},
		{"0xzz", "", false},
		{"a.0x1g", "", false},
		{"", "", false},
		{".", "", false},
		{"4294967296", "", true},
		{"256.1.1.1", "", true},
		{"1.2.3.4.5", "", true},
		{"1.2.3.256", "", true},
		{"1..2", "", true},
		{"08.1", "", true},
		{"example.1", "", true},
		{"99999999999999999999999", "", true},
	} {
		got, ok, err := literal(tc.host)
		if (err != nil) != tc.fails || ok != (tc.want != "") || ok && got.String() != tc.want {
			t.Errorf("%q: got %v, %v, %v, want %q, fault %v", tc.host, got, ok, err, tc.want, tc.fails)
		}
	}
}

// Every spelling of an address is the address.
func FuzzSpellingsOfAddresses(f *testing.F) {
	f.Add(uint32(0xA9FEA9FE), "x.1")
	f.Add(uint32(0), "0x")
	f.Fuzz(func(t *testing.T, n uint32, host string) {
		b := [4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
		want := netip.AddrFrom4(b)
		for _, spelling := range []string{
			want.String(), want.String() + ".", fmt.Sprintf("%d", n), fmt.Sprintf("0x%x", n), fmt.Sprintf("0X%X", n), fmt.Sprintf("0%o", n),
			fmt.Sprintf("0%o.0x%x.%d", b[0], b[1], n&0xFFFF), fmt.Sprintf("%d.0%o", b[0], n&0xFFFFFF), fmt.Sprintf("0x%x.%d.0%o.%d.", b[0], b[1], b[2], b[3]),
		} {
			if got, ok, err := literal(spelling); !ok || err != nil || got != want {
				t.Errorf("%s: got %v, %v, %v, want %s", spelling, got, ok, err, want)
			}
		}
		if a, ok, err := literal(host); ok && (err != nil || !a.IsValid()) {
			t.Errorf("%q: got %v, %v", host, a, err)
		}
	})
}
