//go:build !(linux || darwin || freebsd)

package deadletters

// lock keeps nobody away on this system.
func lock(string) (release func(), err error) { return func() {}, nil }
