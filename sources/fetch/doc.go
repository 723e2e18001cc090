// Package fetch gets values from outside: from files, over HTTP, from programs and from
// NATS. A Declaration says where a value is, in which format, and what of it is wanted; Load
// reads declarations from files.
//
// Every value is JSON in the end, compact, and never changes. What fails is an *Error of one
// of five kinds. Package fetch decides nothing more: when a value is fetched, which value
// counts when that fails, and who is told is the business of the caller, who asks as
// often and as much at once as it likes.
//
//	declarations, warnings, err := fetch.Load(paths)
//	client := fetch.New(fetch.Options{Policy: policy, NATS: nats, Log: log})
//	defer client.Close()
//	value, err := client.Fetch(ctx, declarations[0], nil)
//
// Header values, bodies and values of the environment stand in no error and no log line. Of
// a program only its name does, and what it wrote to standard error.
package fetch
