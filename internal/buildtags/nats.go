//go:build !no_nats

package buildtags

const nats = ""
