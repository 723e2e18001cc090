package command

import "github.com/urfave/cli/v2"

// optional is the value of a flag that may stand without one. Its value follows
// behind "=" only: the next argument is never taken for it.
type optional struct{ text, absent string }

// Set takes the text behind "=", or "true" for none.
func (o *optional) Set(text string) error {
	if text == "true" {
		text = o.absent
	}
	o.text = text
	return nil
}

// String satisfies the library.
func (o *optional) String() string { return o.text }

// IsBoolFlag tells the flag parser that the value may be missing.
func (o *optional) IsBoolFlag() bool { return true }

// optionalFlagOf is a flag with such a value.
type optionalFlagOf struct {
	*cli.GenericFlag
	word string
}

// OptionalWord implements shell.Optional.
func (f optionalFlagOf) OptionalWord() string { return f.word }

// TakesValue says that the next argument is not its value.
func (optionalFlagOf) TakesValue() bool { return false }

// optionalFlag makes a flag that means absent when it stands without a value.
func optionalFlag(name, word, absent, usage string) cli.Flag {
	return optionalFlagOf{&cli.GenericFlag{Name: name, Usage: usage, Value: &optional{absent: absent}}, word}
}
