//go:build no_otlp

package sink

// A build without OTLP knows the schemes and refuses them.
var kindOTLP = about{kind: KindOTLP, schemes: []string{"otlp", "otlps", "otlphttp", "otlphttps"}}
