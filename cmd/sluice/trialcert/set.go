package trialcert

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// early is how much earlier than now certificates begin, for clocks that are behind.
const early = time.Hour

// Set is an authority and what it has signed, in PEM form.
type Set struct {
	CA                    []byte
	ServerCert, ServerKey []byte
	ClientCert, ClientKey []byte
	Names                 []string // that the server's certificate is for, in its form
	End                   time.Time
}

// New makes a set that is valid for so long. Hosts are those that ParseHost takes.
func New(hosts []string, now time.Time, valid time.Duration) (*Set, error) {
	var dns []string
	var ips []net.IP
	s := &Set{End: now.Add(valid).UTC().Truncate(time.Second)}
	for _, text := range hosts {
		name, err := ParseHost(text)
		if err != nil {
			return nil, err
		}
		if ip, err := netip.ParseAddr(name); err == nil {
			ips = append(ips, ip.AsSlice())
		} else {
			dns = append(dns, name)
		}
		s.Names = append(s.Names, name)
	}
	var mark [4]byte
	if _, err := rand.Read(mark[:]); err != nil {
		return nil, err
	}
	template := func(name string) *x509.Certificate {
		return &x509.Certificate{Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-early), NotAfter: s.End, BasicConstraintsValid: true}
	}
	ca := template("Sluice trial authority " + hex.EncodeToString(mark[:])) // two authorities never share a name
	ca.IsCA, ca.MaxPathLenZero, ca.KeyUsage = true, true, x509.KeyUsageCertSign
	authority, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, ca, ca, authority.Public(), authority)
	if err != nil {
		return nil, fmt.Errorf("sign the authority: %w", err)
	}
	if ca, err = x509.ParseCertificate(der); err != nil {
		return nil, err
	}
	s.CA = encode("CERTIFICATE", der)
	sign := func(leaf *x509.Certificate, use x509.ExtKeyUsage) (cert, key []byte, err error) {
		leaf.KeyUsage, leaf.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{use}
		private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return nil, nil, err
		}
		if cert, err = x509.CreateCertificate(rand.Reader, leaf, ca, private.Public(), authority); err != nil {
			return nil, nil, fmt.Errorf("sign the certificate of %s: %w", leaf.Subject.CommonName, err)
		}
		if key, err = x509.MarshalPKCS8PrivateKey(private); err != nil {
			return nil, nil, err
		}
		return encode("CERTIFICATE", cert), encode("PRIVATE KEY", key), nil
	}
	server := template("Sluice trial server")
	server.DNSNames, server.IPAddresses = dns, ips
	if s.ServerCert, s.ServerKey, err = sign(server, x509.ExtKeyUsageServerAuth); err != nil {
		return nil, err
	}
	s.ClientCert, s.ClientKey, err = sign(template("Sluice trial client"), x509.ExtKeyUsageClientAuth)
	return s, err
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
