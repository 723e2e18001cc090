package terminal

import (
	"os"

	"golang.org/x/term"
)

// UnknownWidth is the width of a terminal that does not tell.
const UnknownWidth = 80

// Is reports whether a terminal is behind a stream that is read or written.
func Is(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Width tells how wide a terminal is, whenever it is asked.
func Width(f *os.File) func() int {
	return func() int {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w
		}
		return UnknownWidth
	}
}
