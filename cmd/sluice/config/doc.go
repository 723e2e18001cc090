// Package config finds and merges the settings of every command.
//
// One routine serves them all, `config show` included: compiled defaults, then files
// from the system's to the working directory's, then SLUICE_ variables, then flags,
// merged leaf by leaf. The settings themselves belong to the features: this package
// composes their types, and reads keys, flags, bounds and help from struct tags. Help,
// the template, the JSON Schema, the reference page and validation all come from there.
//
// What is wrong is a Problem each, with the key, the file and the line, and all
// of them are found at once: values of the wrong type by Load, values that are
// not allowed by Check.
package config
