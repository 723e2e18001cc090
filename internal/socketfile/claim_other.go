//go:build unix && !(linux || darwin || freebsd)

package socketfile

// claim lets every start through: there is no lock of files here.
func claim(string) (release func(), err error) { return func() {}, nil }
