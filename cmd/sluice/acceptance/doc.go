// Package acceptance drives the built binary as a user would: arguments, files,
// bytes on standard input and requests over a socket in, exit codes, results and
// answers out. It has no code but tests.
package acceptance
