// Package command runs a program within bounds: of time, of what it may write, and of
// what it may leave behind.
//
// A program is started directly, without a shell, in a process group of its own and with
// the null device as its standard input. Its standard output and standard error are read
// at the same time, so that neither can hold it up. When its time is over, or when it
// writes more than it may, its whole group is killed and the program is waited for. Where a
// system has no process groups, the program alone is killed.
//
//	out, err := command.Run(ctx, command.Options{Argv: argv, MaxStdout: 10 << 20})
package command
