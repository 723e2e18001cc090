//go:build no_otlp

package inputs

const otlpInstead = "is no input, and OTLP is left out of this build, which was made with the tag no_otlp"
