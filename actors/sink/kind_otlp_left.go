//go:build no_otlp

package sink

var otlpKind = about{kind: KindOTLP, schemes: []string{"otlp", "otlps", "otlphttp", "otlphttps"}, left: "no_otlp"}
