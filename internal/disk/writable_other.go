//go:build !unix

package disk

// writable cannot be told here without writing.
func writable(string) error { return nil }
