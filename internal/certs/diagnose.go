package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
)

// HandshakeTimeout bounds the handshakes of servers.
const HandshakeTimeout = 10 * time.Second

// Reasons of handshakes that fail.
const (
	reasonSlow        = "slow"
	reasonGone        = "gone"
	reasonCertificate = "certificate" // one of either side was refused, or is missing
	reasonProtocol    = "protocol"
	reasonOther       = "other"
)

// Reasons are all reasons of handshakes that fail.
var Reasons = []string{reasonSlow, reasonGone, reasonCertificate, reasonProtocol, reasonOther}

// Failure is why a handshake failed. Clients choose a part of its texts.
type Failure struct {
	Reason string // one of Reasons
	Text   string
	Cause  string // the text without what differs from one client or moment to the next
}

// Diagnose says why the handshake of a server failed, which has its certificate for owner.
func Diagnose(err error, owner string) Failure {
	text := err.Error()
	var unverified *tls.CertificateVerificationError
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return Failure{reasonSlow, "it was not complete within " + HandshakeTimeout.String(), ""}
	case Gone(err):
		return Failure{reasonGone, "the client left", ""}
	case errors.As(err, &unverified):
		return Failure{reasonCertificate, text, unverifiedCause(unverified)}
	}
	cause, _, _ := strings.Cut(text, "(")
	cause, _, _ = strings.Cut(cause, "[")
	switch {
	case !strings.Contains(text, "tls: "): // of the connection
		return Failure{reasonOther, text, cause}
	case strings.Contains(text, "certificate"):
		var alert *net.OpError
		if errors.As(err, &alert) && alert.Op == "remote error" {
			text = "the client refuses the certificate of " + owner + ": " + text
		}
		return Failure{reasonCertificate, text, cause}
	}
	return Failure{reasonProtocol, text, cause}
}

// Gone reports the error of a connection whose client has left.
func Gone(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.ECONNRESET)
}

// unverifiedCause tells apart why certificates of clients are refused, without their names
// and times.
func unverifiedCause(err error) string {
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &unknown):
		return "unknown authority"
	case errors.As(err, &invalid):
		return fmt.Sprintf("invalid %d", invalid.Reason)
	}
	return err.Error()
}
