package fetch

import (
	"errors"
	"strings"

	"github.com/sluicehq/sluice/internal/natsconn"
)

// server is the address of "nats://host:port" or "tls://host:port", and whether it must have
// TLS.
func server(text string) (address string, secure bool, err error) {
	host, ok := strings.CutPrefix(text, "nats://")
	if !ok {
		if host, secure = strings.CutPrefix(text, "tls://"); !secure {
			return "", false, errors.New("it has another scheme")
		}
	}
	address, subject, err := natsconn.Address(host)
	if err == nil && (subject != "" || strings.Contains(host, "/")) {
		err = errors.New("nothing may stand behind the port (the key 'subject' names the subject)")
	}
	return address, secure, err
}
