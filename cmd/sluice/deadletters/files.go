package deadletters

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// Damage is a line that is no dead letter.
type Damage struct {
	Number int // of the line, counted through all files
	File   string
	Line   int
	Err    error
}

func (d *Damage) Error() string {
	return fmt.Sprintf("%s:%d: no dead letter: %v", d.File, d.Line, d.Err)
}

// Unwrap is what is wrong with the line.
func (d *Damage) Unwrap() error { return d.Err }

// Files reads the records of several files, one after another.
type Files struct {
	Names []string
	Stdin io.Reader
	// Damaged is told of each line that is no dead letter; the rest goes on.
	Damaged func(*Damage)
}

// Check reports files that cannot be opened, before the first is read.
func (f *Files) Check() error {
	var errs []error
	for _, name := range f.Names {
		if name == Stdin {
			continue
		}
		s, err := open(name, nil)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		_ = s.close()
	}
	return errors.Join(errs...)
}

// ErrStop ends Each without an error.
var ErrStop = errors.New("stop")

// Each hands every record to take, until take returns an error. The record is its
// caller's.
func (f *Files) Each(take func(r *Record) error) error {
	before := 0
	for _, name := range f.Names {
		s, err := open(name, f.Stdin)
		if err != nil {
			return err
		}
		err = f.each(s, before, take)
		before += s.line
		_ = s.close()
		if errors.Is(err, ErrStop) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *Files) each(s *stream, before int, take func(r *Record) error) error {
	for {
		r, err := s.record()
		var damage *Damage
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &damage):
			damage.Number = before + damage.Line
			f.Damaged(damage)
			continue
		case err != nil:
			return err
		}
		r.Number = before + r.Line
		if err := take(r); err != nil {
			return err
		}
	}
}

// record reads up to the next record. A line that is none is a Damage, and the stream
// goes on behind it.
func (s *stream) record() (*Record, error) {
	for {
		text, err := s.next()
		if err != nil && !errors.Is(err, errTooLong) && !errors.Is(err, errCutOff) {
			return nil, err
		}
		if !errors.Is(err, errTooLong) && len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		var r Record
		if err == nil || errors.Is(err, errCutOff) { // a record without its line end is whole
			var fault error
			if r, fault = parse(text); fault == nil {
				err = nil
			} else if err == nil {
				err = fault
			}
		}
		if err != nil {
			return nil, &Damage{Number: s.line, File: s.name, Line: s.line, Err: err}
		}
		r.File, r.Line, r.Number = s.name, s.line, s.line
		return &r, nil
	}
}

// isSame reports whether two paths name one file that exists.
func isSame(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
