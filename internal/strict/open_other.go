//go:build !unix

package strict

import "os"

const openFlags = os.O_RDONLY
