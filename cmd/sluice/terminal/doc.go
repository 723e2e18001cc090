// Package terminal shows results, tables and figures to people: columns that fit the
// terminal, colours, and texts that cannot steer it. It knows nothing of commands.
package terminal
