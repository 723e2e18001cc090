//go:build no_tls

package unavailable

// leftTLS is what the tag leaves out of this build.
var leftTLS = []Feature{{
	Name: "TLS", Sentence: "The API is served in clear text.",
	Refused: []string{"daemon.api.tls.cert", "daemon.api.tls.key", "daemon.api.tls.client_ca"}, Ignored: []string{"daemon.api.tls"},
}}
