package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Hints that several faults share.
const (
	hintRunning = "is the daemon running? --addr says where"
	hintPlain   = "if the daemon serves plaintext, call it with http:// and without --ca, --cert and --key"
	hintTLS     = "if the daemon serves TLS, call it with https://, and name its authority with --ca"
)

// explained is a fault in the making.
type explained struct {
	what    string // "" for the text of the error
	hint    string
	lasting bool
}

// fault tells why a request got no answer.
func (c *Client) fault(ctx context.Context, method, path string, err error) *Fault {
	var u *url.Error
	cause := err
	if errors.As(err, &u) { // it begins with method and URL
		cause = u.Err
	}
	var e explained
	if ctx.Err() == nil { // else the caller gave up
		if why := c.ending(); why != nil && (alertOf(why) != nil || errors.Is(err, net.ErrClosed)) {
			err, cause = why, why // what is sent on a closed connection says less
		}
		e = c.explain(err)
	}
	if e.what == "" {
		e.what = cause.Error()
	}
	path, _, _ = strings.Cut(path, "?")
	text := fmt.Sprintf("%s %s: %s", method, c.Place(path), printable(e.what))
	if e.hint != "" {
		text += " (" + e.hint + ")"
	}
	return &Fault{text: text, Lasting: e.lasting, err: cause}
}

func (c *Client) explain(err error) explained {
	var (
		verification *tls.CertificateVerificationError
		record       tls.RecordHeaderError
		proxy        *net.OpError
		lookup       *net.DNSError
	)
	alert := alertOf(err)
	switch {
	case errors.As(err, &verification):
		return c.untrusted(verification)
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record):
		return explained{"what answers there does not speak TLS", hintPlain, true}
	case c.wanted.Load() != nil && (alert != nil || !c.answered && isClosed(err)):
		return c.certificateWanted(alert)
	case alert != nil:
		return explained{"the daemon refuses the handshake: " + alert.Error(), "its settings of TLS say which versions and names it takes", !c.answered}
	case c.inClear() && strings.Contains(err.Error(), `malformed HTTP response "\x15\x03`): // an alert of TLS
		return explained{"what answers there speaks TLS", hintTLS, true}
	case c.at.socket != "":
		return c.socketFault(err)
	case errors.As(err, &proxy) && proxy.Op == "proxyconnect":
		return explained{"", "that is the proxy of HTTP_PROXY or HTTPS_PROXY; NO_PROXY names the hosts that need none", !c.answered}
	case errors.Is(err, syscall.ECONNREFUSED):
		return explained{"", hintRunning, !c.answered}
	case errors.As(err, &lookup):
		return explained{"", "--addr says where the daemon is", lookup.IsNotFound && !c.answered}
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return explained{"", "this machine has no way there; --addr says where the daemon is", false}
	case isTimeout(err):
		return c.late(err)
	case isClosed(err) && c.at.tls() && !c.shaken.Load():
		return explained{"the connection was closed during the handshake of TLS: " + tail(err), hintPlain, false}
	case isClosed(err) && c.inClear() && !c.answered:
		return explained{"", hintTLS, false}
	}
	return explained{}
}

// tail is the text of the innermost error, without operation and addresses.
func tail(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}

func isClosed(err error) bool {
	return slices.ContainsFunc([]error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE}, func(target error) bool { return errors.Is(err, target) })
}

// alertOf is what the other side of TLS sent as an alert, nil when there was none.
func alertOf(err error) error {
	var remote *net.OpError
	if errors.As(err, &remote) && remote.Op == "remote error" {
		return remote.Err
	}
	return nil
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}

func (c *Client) late(err error) explained {
	var dial *net.OpError
	switch {
	case errors.As(err, &dial) && dial.Op == "dial":
		return explained{fmt.Sprintf("no connection within %s", connectTimeout), hintRunning, false}
	case c.at.tls() && !c.shaken.Load():
		return explained{"the handshake of TLS came to no end", hintPlain, false}
	}
	return explained{fmt.Sprintf("no answer within %s", c.http.Timeout), "its log says what the daemon is busy with; --addr says where it is", false}
}

// socketFault is about a unix socket.
func (c *Client) socketFault(err error) explained {
	switch {
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return explained{"", "a socket is for the user of the daemon alone: run this command as that user", true}
	case errors.Is(err, syscall.ENOENT):
		return explained{"", hintRunning, !c.answered}
	case errors.Is(err, syscall.EPROTOTYPE):
		return explained{"", "the socket is not one for streams; --addr says which is the daemon's", true}
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ENOTSOCK):
		if info, err := os.Stat(c.at.socket); err == nil && info.Mode().Type() != os.ModeSocket {
			return explained{"", "the file is no socket; --addr says which is the daemon's", true}
		}
		return explained{"", "nobody listens on the socket: is the daemon running?", !c.answered}
	case isTimeout(err):
		return c.late(err)
	}
	return explained{}
}

// certificateWanted is the fault of a daemon that asked for a certificate and then ended
// the connection. A version of TLS sends the reason after the handshake, where a network
// may lose it, so it counts only as detail.
func (c *Client) certificateWanted(alert error) explained {
	detail := ""
	if alert != nil {
		detail = ": " + strings.TrimPrefix(alert.Error(), "tls: ")
	}
	authorities := authorityNames(c.wanted.Load().AcceptableCAs)
	if authorities != "" {
		authorities = "; it takes those of " + authorities
	}
	if c.cert == "" {
		return explained{"the daemon asks for a certificate of the client" + detail, "name one with --cert, and its key with --key" + authorities, true}
	}
	return explained{
		fmt.Sprintf("the daemon does not take the certificate in %s%s", c.cert, detail),
		"it must be valid, be for clients, and be signed by an authority that the daemon knows" + authorities, true,
	}
}

// authorityNames are the names of the first few authorities.
func authorityNames(raw [][]byte) string {
	var names []string
	for _, der := range raw[:min(len(raw), 3)] {
		var sequence pkix.RDNSequence
		if _, err := asn1.Unmarshal(der, &sequence); err != nil {
			continue
		}
		var name pkix.Name
		name.FillFromRDNSequence(&sequence)
		names = append(names, quoted(name))
	}
	if len(raw) > 3 {
		names = append(names, "others")
	}
	return strings.Join(names, ", ")
}

// quoted is the name of a subject or an issuer.
func quoted(n pkix.Name) string {
	if n.CommonName != "" {
		return fmt.Sprintf("%q", printable(n.CommonName))
	}
	return fmt.Sprintf("%q", printable(n.String()))
}

// untrusted is the fault of a daemon's certificate.
func (c *Client) untrusted(err *tls.CertificateVerificationError) explained {
	var (
		unknown x509.UnknownAuthorityError
		name    x509.HostnameError
		invalid x509.CertificateInvalidError
		roots   x509.SystemRootsError
	)
	out := explained{what: "the certificate of the daemon is not taken: " + err.Err.Error(), lasting: true}
	switch {
	case errors.As(err, &unknown):
		out.what = "the certificate of the daemon is signed by an unknown authority"
		if len(err.UnverifiedCertificates) > 0 {
			leaf := err.UnverifiedCertificates[0]
			out.what += ", " + quoted(leaf.Issuer)
		}
		out.hint = "--ca names the file with the certificate of its authority"
		if c.ca != "" {
			out.hint = fmt.Sprintf("that authority is not in %s; --ca names the file with its certificate", c.ca)
		}
	case errors.As(err, &roots):
		out.hint = "the system has no roots that can be read; --ca names the file with the certificate of the daemon's authority"
	case errors.As(err, &name):
		names := certificateNames(name.Certificate)
		if names == "" {
			out.what = "the certificate of the daemon has no name that counts; a common name alone does not"
			out.hint = fmt.Sprintf("it needs the subject alternative name %q", printable(name.Host))
			break
		}
		out.what = fmt.Sprintf("the certificate of the daemon is for %s, not for %q", names, printable(name.Host))
		out.hint = "call the daemon by one of these names with --addr, or add this one to its certificate"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		now, from, to := time.Now(), invalid.Cert.NotBefore.UTC(), invalid.Cert.NotAfter.UTC()
		whose := "the certificate of the daemon"
		if invalid.Cert.IsCA {
			whose = "the certificate of its authority " + quoted(invalid.Cert.Subject)
		}
		if now.Before(from) {
			out.what, out.hint = fmt.Sprintf("%s is not valid before %s", whose, from.Format(time.RFC3339)), "is the clock of this machine right?"
			break
		}
		out.what, out.hint = fmt.Sprintf("%s expired at %s", whose, to.Format(time.RFC3339)), "renew it, and reload the daemon"
	}
	return out
}

// certificateNames are the names and addresses that a certificate is for, the first few.
func certificateNames(cert *x509.Certificate) string {
	const most = 5
	names := slices.Clone(cert.DNSNames)
	for _, ip := range cert.IPAddresses {
		names = append(names, ip.String())
	}
	more := len(names) > most
	names = names[:min(len(names), most)]
	for i := range names {
		names[i] = fmt.Sprintf("%q", printable(names[i]))
	}
	if more {
		names = append(names, "...")
	}
	return strings.Join(names, ", ")
}
