package kafkaconn

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
)

// Config says how to log in to every Kafka broker, and how to know one. All of it
// stands in flags and variables, none in files.
type Config struct {
	User     string `yaml:"-" flag:"kafka-user" env:"KAFKA_USER" help:"User name; needs --kafka-password"`
	Password string `yaml:"-" flag:"kafka-password" env:"KAFKA_PASSWORD" help:"Password; needs --kafka-user"`
	SASL     string `yaml:"-" flag:"kafka-sasl" oneof:"scram-sha-512 scram-sha-256 plain" help:"How the password is shown to be known"`
	TLS      bool   `yaml:"-" flag:"kafka-tls" help:"Speak TLS; the other flags of TLS say so, too"`
	TLSCert  string `yaml:"-" flag:"kafka-tls-cert" help:"Client certificate; needs --kafka-tls-key"`
	TLSKey   string `yaml:"-" flag:"kafka-tls-key" help:"Key of the client certificate"`
	TLSCA    string `yaml:"-" flag:"kafka-tls-ca" help:"Roots of broker certificates, beside those of the system"`
}

// The mechanisms of SASL.
const (
	Plain       = "plain"
	ScramSHA256 = "scram-sha-256"
	ScramSHA512 = "scram-sha-512"
)

// DefaultConfig logs in to nobody, and with SCRAM-SHA-512 if a user is given.
func DefaultConfig() Config { return Config{SASL: ScramSHA512} }

// Client says how a process connects. Log is required.
type Client struct {
	Config Config
	Log    *slog.Logger
}

// Encrypted reports whether connections speak TLS.
func (c Config) Encrypted() bool { return c.TLS || c.TLSCA != "" || c.TLSCert != "" }

// Validate reports halves of pairs.
func (c Config) Validate(fault func(key string, err error)) {
	if (c.User == "") != (c.Password == "") {
		fault("--kafka-user", errors.New("--kafka-user and --kafka-password belong together"))
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		fault("--kafka-tls-cert", errors.New("--kafka-tls-cert and --kafka-tls-key belong together"))
	}
}

// maxTopic is how long a name of a topic may be.
const maxTopic = 249

// defaultPort is that of a broker that names none.
const defaultPort = "9092"

// Address is the brokers and the topic that "host:port,host:port/topic" names. Brokers are
// asked in this order for all others; without a port they listen on 9092.
func Address(target string) (brokers []string, topic string, err error) {
	hosts, topic, _ := strings.Cut(target, "/")
	if strings.Contains(target, "@") {
		return nil, "", errors.New("a Kafka URL holds no credentials (--kafka-user and --kafka-password give them)")
	}
	for host := range strings.SplitSeq(hosts, ",") {
		broker, err := address(host)
		switch {
		case err != nil:
			return nil, "", err
		case slices.Contains(brokers, broker):
			return nil, "", fmt.Errorf("broker '%s' is named twice", broker)
		}
		brokers = append(brokers, broker)
	}
	return brokers, topic, checkTopic(topic)
}

// address wants a host, and a port if there is one.
func address(text string) (string, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		port = defaultPort
		host = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
		if strings.Contains(host, ":") && net.ParseIP(host) == nil {
			return "", fmt.Errorf("'%s' is no broker: host:port", text)
		}
	}
	if n, bad := strconv.ParseUint(port, 10, 16); bad != nil || n == 0 || host == "" || strings.ContainsAny(host, " \t\r\n") {
		return "", fmt.Errorf("'%s' is no broker: host:port", text)
	}
	return net.JoinHostPort(host, port), nil
}

// checkTopic wants what Kafka takes as the name of a topic.
func checkTopic(topic string) error {
	switch strange := strings.IndexFunc(topic, func(r rune) bool {
		return r != '.' && r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}); {
	case topic == "":
		return errors.New("a topic is missing: kafka://broker1,broker2/topic")
	case strange >= 0, topic == ".", topic == "..":
		return fmt.Errorf("'%s' is no name of a topic: letters, digits, '.', '_' and '-'", topic)
	case len(topic) > maxTopic:
		return fmt.Errorf("the name of the topic has %d characters, %d are allowed", len(topic), maxTopic)
	}
	return nil
}
