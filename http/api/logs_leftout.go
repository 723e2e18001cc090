//go:build no_otlp

package api

// logRoutes are none: a build without OTLP has no path for it.
var logRoutes []route
