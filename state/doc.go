// Package state keeps what survives a restart in a badger directory.
//
// It knows bytes only: versioned parts of a save, and rows. A save is written in
// chunks under a new generation and becomes the current one by a single small
// transaction that writes its head; until then, whatever happens, the save
// before it is current. Parts that did not change are named again by the next
// head and not written.
//
// A Store may be used from several goroutines. One save of a series is under way
// at a time; the caller sees to that.
package state
