//go:build no_nats

package buildtags

const nats = "no_nats"
