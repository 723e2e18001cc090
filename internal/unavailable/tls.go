//go:build !no_tls

package unavailable

// leftTLS is what the tag leaves out of this build.
var leftTLS []Feature
