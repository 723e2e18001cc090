//go:build !race

package acceptance

var buildFlags []string

// watched says that tests which only drive programs of their own need not run again.
const watched = false
