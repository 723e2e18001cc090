// Package dispatch is the stage that offers what happened to every sink.
//
// Each form that sinks have is asked once per result, and all sinks of the form
// share the messages. A sink whose form accepts nothing of a result set never
// learns of the set. The others are offered it in configuration order without
// waiting: what is offered in one step leaves as one bundle for each form. Only
// then does the stage hold the next set back for the sinks that block and had no
// room, so a full sink never delays an idle one. Each bundle has one share of the
// tokens of its lines, for all sinks that have it, and a line ends with the last
// of them; a line that no sink accepts anything of ends here.
package dispatch
