//go:build !no_tls

package unavailable

// left are the features that tags leave out of this build.
var left []Feature
