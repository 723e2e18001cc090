// Package buildtags says which flags of the command line were left out of this build with
// the feature that they are for.
package buildtags

import "strings"

// features are the prefixes of flags, with the tag that left them out.
var features = []struct{ prefix, tag string }{
	{"nats-", nats},
	{"kafka-", kafka},
}

// LeavesOut reports whether a flag, named without dashes, is unknown in this build.
func LeavesOut(flag string) bool {
	for _, f := range features {
		if f.tag != "" && strings.HasPrefix(flag, f.prefix) {
			return true
		}
	}
	return false
}
