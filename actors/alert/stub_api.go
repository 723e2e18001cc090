package alert

import "errors"

var ErrNotStored = errors.New("silence could not be stored")

type FullError struct{ Limit int }

func (e *FullError) Error() string { return "x" }
