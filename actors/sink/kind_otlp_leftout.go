//go:build no_otlp

package sink

var otlpKind = row{kind: KindOTLP, schemes: []string{"otlp", "otlps", "otlphttp", "otlphttps"}, leftOutBy: "no_otlp"}
