//go:build !no_otlp

package unavailable

var leftOTLP []Feature
