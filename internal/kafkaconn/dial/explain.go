package dial

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Explain says which flag may mend an error of the library.
func Explain(err error) error {
	var unknown x509.UnknownAuthorityError
	var record tls.RecordHeaderError
	var early *kgo.ErrFirstReadEOF
	text := ""
	if err != nil {
		text = err.Error()
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, kerr.SaslAuthenticationFailed), errors.Is(err, kerr.UnsupportedSaslMechanism), errors.Is(err, kerr.IllegalSaslState), strings.Contains(text, "server rejected the connection"):
		return fmt.Errorf("%w (--kafka-user, --kafka-password and --kafka-sasl log in)", err)
	case errors.As(err, &unknown):
		return fmt.Errorf("%w (--kafka-tls-ca names further roots)", err)
	case errors.As(err, &record):
		return fmt.Errorf("%w: does the broker speak TLS on this port (--kafka-tls)?", err)
	case strings.Contains(text, "certificate required"), strings.Contains(text, "bad certificate"):
		return fmt.Errorf("%w (does the broker demand another client certificate? --kafka-tls-cert and --kafka-tls-key give it)", err)
	case errors.As(err, &early), errors.Is(err, io.EOF):
		return errors.New("the broker closes the connection: it may demand TLS (--kafka-tls), another client certificate (--kafka-tls-cert with --kafka-tls-key), or another login (--kafka-user, --kafka-password and --kafka-sasl)")
	case strings.Contains(text, "tls alert record"):
		return errors.New("the broker answers with an alert of TLS, as one does that is spoken to in clear text (--kafka-tls speaks TLS)")
	case strings.Contains(text, "invalid large response size"), strings.Contains(text, "invalid negative response size"):
		return fmt.Errorf("the answer is not that of a Kafka broker: is the port right? (%w)", err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no answer within %s (%w): are the brokers reachable, also under the names that they advertise?", askWait, err)
	}
	return err
}

// About says what an answer's error means for a topic and a group.
func About(err error, topic, group string) error {
	switch {
	case errors.Is(err, kerr.UnknownTopicOrPartition), errors.Is(err, kerr.UnknownTopicID):
		return fmt.Errorf("topic %s does not exist: create it, or mend the name", topic)
	case errors.Is(err, kerr.TopicAuthorizationFailed):
		return fmt.Errorf("the user may not use topic %s: allow it with an ACL, or log in as another (--kafka-user)", topic)
	case errors.Is(err, kerr.GroupAuthorizationFailed):
		return fmt.Errorf("the user may not join group %s: allow it with an ACL, or name another group (--consumer-group)", group)
	}
	return err
}
