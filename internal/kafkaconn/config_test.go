package kafkaconn

import (
	"slices"
	"strings"
	"testing"
)

func TestHalvesOfPairsAreFaults(t *testing.T) {
	for _, tc := range []struct {
		name string
		cfg  Config
		want []string // key and message
	}{
		{"none", Config{}, nil},
		{"user and password", Config{User: "u", Password: "secret"}, nil},
		{"a client certificate beside them", Config{User: "u", Password: "secret", TLSCert: "c", TLSKey: "k", TLSCA: "r", TLS: true}, nil},
		{"a user without password", Config{User: "u"}, []string{"--kafka-user: --kafka-user and --kafka-password belong together"}},
		{"a password without user", Config{Password: "secret"}, []string{"--kafka-user: --kafka-user and --kafka-password belong together"}},
		{"a certificate without key", Config{TLSCert: "c"}, []string{"--kafka-tls-cert: --kafka-tls-cert and --kafka-tls-key belong together"}},
		{"a key without certificate", Config{TLSKey: "k"}, []string{"--kafka-tls-cert: --kafka-tls-cert and --kafka-tls-key belong together"}},
	} {
		var got []string
		tc.cfg.Validate(func(key string, err error) { got = append(got, key+": "+err.Error()) })
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestEveryFlagOfTLSEncrypts(t *testing.T) {
	for _, tc := range []struct {
		name string
		cfg  Config
		want bool
	}{
		{"nothing of TLS", Config{User: "u", Password: "secret"}, false},
		{"TLS alone", Config{TLS: true}, true},
		{"roots", Config{TLSCA: "r"}, true},
		{"a client certificate", Config{TLSCert: "c", TLSKey: "k"}, true},
	} {
		if got := tc.cfg.Encrypted(); got != tc.want {
			t.Errorf("%s: encrypted %t, want %t", tc.name, got, tc.want)
		}
	}
}

func TestAddressesAreBrokersAndTopic(t *testing.T) {
	long := strings.Repeat("t", 250)
	for _, tc := range []struct {
		name, target string
		brokers      []string
		topic, err   string
	}{
		{"one broker", "h:9093/a", []string{"h:9093"}, "a", ""},
		{"several", "h:1,i:2,[::1]:3/a.b_c-D9", []string{"h:1", "i:2", "[::1]:3"}, "a.b_c-D9", ""},
		{"the usual port", "h,10.0.0.1,[::1]/a", []string{"h:9092", "10.0.0.1:9092", "[::1]:9092"}, "a", ""},
		{"no topic", "h:1", nil, "", "a topic is missing: kafka://broker1,broker2/topic"},
		{"an empty topic", "h:1/", nil, "", "a topic is missing"},
		{"a topic of two", "h:1/a/b", nil, "", "'a/b' is no name of a topic: letters, digits, '.', '_' and '-'"},
		{"a topic of dots", "h:1/..", nil, "", "'..' is no name of a topic"},
		{"a topic with white space", "h:1/a b", nil, "", "'a b' is no name of a topic"},
		{"a topic that is too long", "h:1/" + long, nil, "", "the name of the topic has 250 characters, 249 are allowed"},
		{"no broker", "/a", nil, "", "'' is no broker: host:port"},
		{"a broker is missing", "h:1,/a", nil, "", "'' is no broker: host:port"},
		{"no host", ":9092/a", nil, "", "':9092' is no broker: host:port"},
		{"a port beyond all ports", "h:70000/a", nil, "", "'h:70000' is no broker: host:port"},
		{"no number as port", "h:x/a", nil, "", "'h:x' is no broker: host:port"},
		{"more colons than an address has", "h:1:2/a", nil, "", "'h:1:2' is no broker: host:port"},
		{"a broker twice", "h,h:9092/a", nil, "", "broker 'h:9092' is named twice"},
		{"a login", "u:secret@h:1/a", nil, "", "a Kafka URL holds no credentials (--kafka-user and --kafka-password give them)"},
		{"a login with a slash", "u:sec/ret@h:1/a", nil, "", "holds no credentials"},
	} {
		brokers, topic, err := Address(tc.target)
		switch {
		case tc.err == "" && (err != nil || topic != tc.topic || !slices.Equal(brokers, tc.brokers)):
			t.Errorf("%s: got %q %q %v, want %q %q", tc.name, brokers, topic, err, tc.brokers, tc.topic)
		case tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)):
			t.Errorf("%s: got %v, want %q", tc.name, err, tc.err)
		case err != nil && strings.Contains(err.Error(), "sec"):
			t.Errorf("%s: the error shows a secret: %v", tc.name, err)
		}
	}
}
