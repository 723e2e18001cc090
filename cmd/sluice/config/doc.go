// Package config finds, merges and checks the settings of every command.
//
// One routine serves them all, so that what `config show` prints is what runs:
// compiled defaults, then files from the system's to the working directory's,
// then SLUICE_ variables, then flags, merged leaf by leaf (specification part 23
// section 1). The typed tree is the only table of keys: its struct tags carry
// the key, the flag, the bounds and the allowed words, and help, the template,
// the JSON schema and validation are read from them.
//
// Two kinds of settings are refused at different moments. A value that does not
// have its key's type fails the load. A value of the right type that is not
// allowed, or that contradicts another, is reported by Check, all faults at
// once, named by flag or dotted key.
package config
