//go:build !no_otlp

package inputs

// otlpInstead is what to do in place of an input for OTLP.
const otlpInstead = "is no input: log records over OTLP are always taken at the address of the API (--api-addr), and --input http starts a daemon for them alone"
