package config

import "github.com/sluicehq/sluice/sigma/timespan"

// Paths is a list of files and directories; a file may also name just one.
type Paths []string

// Bytes is a size: an integer, or a number with KiB, MiB or GiB.
type Bytes = timespan.Bytes

// Duration is a span in the long grammar of specification part 23 section 1.6.
type Duration = timespan.Duration

// Units to write defaults with.
const (
	minute = Duration(60e9)
	hour   = 60 * minute
	day    = 24 * hour

	kib Bytes = 1 << 10
	mib Bytes = 1 << 20
	gib Bytes = 1 << 30
)
