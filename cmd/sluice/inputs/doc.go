// Package inputs is the list of inputs: how the configuration names them, and how each
// is opened, run and closed. The inputs themselves stand below package sources.
package inputs
