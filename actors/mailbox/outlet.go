package mailbox

// Outlet is what a stage knows of its successor: a lane that takes elements in
// order and never makes its caller wait.
type Outlet[T any] interface {
	// TryPut admits the leading part of run that fits and reports its length.
	// Behind somebody who already waits it admits nothing. The run stays the
	// caller's.
	TryPut(run []T) (admitted int)

	// Park leaves run with the outlet, which admits it piece by piece as room
	// appears, in the order of arrival of everyone who waits. admitted is called
	// once, when the whole of it is in, from a goroutine of the outlet's; until
	// then run belongs to the outlet. The returned function takes back what is
	// not admitted yet, in which case admitted is not called any more. A closed
	// outlet keeps the run until it is taken back.
	Park(run []T, admitted func()) (takeBack func() []T)
}
