// Package terminaltest gives tests a pseudo terminal to write to.
package terminaltest
