//go:build no_otlp

package unavailable

// leftOTLP is what the tag leaves out of this build.
var leftOTLP = []Feature{{
	Name: "OTLP", Sentence: "Log records are not received over OTLP.",
	Series: []Series{{Name: "otlp_log_records_total", Help: "Log records received over OTLP."}},
}}
