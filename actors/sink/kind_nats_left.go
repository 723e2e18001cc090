//go:build no_nats

package sink

var natsKind = about{kind: KindNATS, schemes: []string{"nats"}, left: "no_nats"}
