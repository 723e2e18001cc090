package dial_test

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/kafkaconn/dial"
)

func TestAServerThatIsNotOfKafkaIsToldOf(t *testing.T) {
	for _, tc := range []struct{ name, answer, want string }{
		{"a NATS server", "INFO {}\r\n", "the answer is not that of a Kafka broker: is the port right?"},
		{"a web server", "HTTP/1.1 400 Bad Request\r\n", "the answer is not that of a Kafka broker: is the port right?"},
		{"one that answers with bytes of its own", "\xff\xff\xff\xff\xff\xff\xff\xff", "the answer is not that of a Kafka broker: is the port right?"},
		{"a broker that answers with an alert of TLS", "\x15\x03\x03\x00\x02\x02\x46", "(--kafka-tls speaks TLS)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := dial.Dialer{Log: slog.New(slog.DiscardHandler), Dial: func(context.Context, string, string) (net.Conn, error) {
				ours, theirs := net.Pipe()
				go func() {
					defer theirs.Close()
					if _, err := theirs.Read(make([]byte, 1024)); err == nil { // a request
						_, _ = theirs.Write([]byte(tc.answer))
						_, _ = theirs.Read(make([]byte, 1)) // until the client gives up
					}
				}()
				return ours, nil
			}}
			client, err := d.New([]string{"127.0.0.1:9092"}, "test", dial.Events{})
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			if _, err = client.Topic(t.Context(), "events"); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}
