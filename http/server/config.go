package server

// Config says where the API is served and under which certificate.
type Config struct {
	Addr string `yaml:"addr" flag:"api-addr" help:"Address of the API: IP:port or unix:///path"`
	TLS  TLS    `yaml:"tls"`
}

// DefaultConfig returns the settings that apply when nothing is configured.
func DefaultConfig() Config { return Config{Addr: "0.0.0.0:9090", TLS: TLS{MinVersion: "1.3"}} }

// Validate reports an address that ParseAddress refuses, and files of a
// certificate that do not belong together.
func (c Config) Validate(fault func(key string, err error)) {
	if _, err := ParseAddress(c.Addr); err != nil {
		fault("addr", err)
	}
	c.TLS.validate(func(key string, err error) { fault("tls."+key, err) })
}

// Listener returns the address to listen on. It refuses an address that would
// carry tokens and events in clear over a network, with an error that wraps
// ErrPlaintext.
func (c Config) Listener() (Address, error) {
	addr, err := ParseAddress(c.Addr)
	if err != nil {
		return addr, err
	}
	return addr, addr.CheckTransport(c.TLS.On(), c.TLS.allowsPlaintext())
}
