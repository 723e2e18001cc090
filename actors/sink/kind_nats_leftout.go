//go:build no_nats

package sink

var natsKind = row{kind: KindNATS, schemes: []string{"nats"}, leftOutBy: "no_nats"}
