//go:build no_nats

package inputs

var natsKind = Kind{Name: "nats", Schemes: []string{"nats"}, Usage: "nats://host:port/subject", LeftOutBy: "no_nats"}
