// Package dispatch is the stage that offers what happened to every sink.
//
// Results are rendered here, once, and all sinks share the bytes. An item is
// offered to every sink in configuration order without waiting; only then does
// the stage hold the next list back for the sinks that block and had no room, so
// a full sink never delays an idle one. Each sink that takes an item takes a
// share of the line's token, and the line ends with the last of them.
package dispatch
