package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/sluicehq/sluice/internal/sigmatest"
)

// minTLSShare is how fast events must be that come over TLS, with a token where one is
// given, measured against the same events in clear.
const minTLSShare = 0.75

// tokenVariable holds a token for the daemon that speaks TLS. The daemon's further arguments say what it is for.
const tokenVariable = "BENCH_TOKEN"

// runTLS compares two daemons, one of which speaks TLS.
func (b *bench) runTLS(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := unpack(o.data, dir); err != nil {
		return err
	}
	secured, flags, err := selfSigned(dir)
	if err != nil {
		return err
	}
	b.printf("%-25s %14s %14s %8s  %9s %6s\n", "lane", "clear/s CPU", "TLS/s CPU", "share", "half in", "bar")
	for _, lane := range sigmatest.Lanes() {
		if o.only != "" && o.only != lane {
			continue
		}
		lines, err := sigmatest.ReadLane(o.data, lane)
		if err == nil {
			err = b.overTLS(ctx, lines, o, filepath.Join(dir, "rules"), lane, secured, flags)
		}
		if err != nil {
			return fmt.Errorf("lane %s: %w", lane, err)
		}
	}
	return nil
}

// overTLS measures and prints one lane, both daemons in turn.
func (b *bench) overTLS(ctx context.Context, lines [][]byte, o options, rules, lane string, secured access, flags []string) error {
	text := append(bytes.Join(lines, []byte{'\n'}), '\n')
	var rates [2]func() (float64, error)
	for i, by := range []access{{}, secured} {
		var more []string
		if by.tls != nil {
			more = append(flags, b.more...)
		}
		c, err := spawnBy(ctx, by, b.program, rules, more...)
		if err != nil {
			return err
		}
		defer c.stop()
		p := &post{addr: c.addr, lines: b.post.lines, connections: b.post.connections, contentType: typeNDJSON, access: by}
		bodies := p.bodies(text)
		rates[i] = func() (float64, error) {
			did, _, err := c.load(ctx, p, bodies, o.each/(2*rounds))
			return float64(did.events) / did.cpu.Seconds(), err
		}
	}
	var plain, tlsed, shares []float64
	for round := range rounds + 1 {
		p, err := rates[0]()
		if err != nil {
			return err
		}
		s, err := rates[1]()
		if err != nil {
			return err
		}
		if round > 0 { // in the first, tables fill and buffers grow
			plain, tlsed, shares = append(plain, p), append(tlsed, s), append(shares, s/p)
		}
	}
	share := quantile(shares, 2)
	b.printf("%-25s %14.0f %14.0f %8.2f  %4.2f-%4.2f %6.2f %s\n", lane, quantile(plain, 2), quantile(tlsed, 2), share,
		quantile(shares, 1), quantile(shares, 3), minTLSShare, b.holds(share >= minTLSShare))
	return nil
}

// selfSigned makes a certificate, and returns how to speak to a daemon that has it and
// the flags that give it one.
func selfSigned(dir string) (access, []string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return access{}, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return access{}, nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return access{}, nil, err
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	if err := os.WriteFile(certFile, certificate, 0o600); err != nil {
		return access{}, nil, err
	}
	if err := os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600); err != nil {
		return access{}, nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(certificate)
	by := access{tls: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13}, token: os.Getenv(tokenVariable)}
	return by, []string{"--tls-cert", certFile, "--tls-key", keyFile}, nil
}
