// Package graph is the vocabulary of the dataflow: what travels from stage to
// stage, in which order the stages stand, and who still owes an acknowledgement.
//
// A source hands in Lines. They travel in a Batch until their events are judged;
// then every line with a result travels as a ResultSet. Each line carries a Token, and
// whoever ends the line settles it: exactly once, wherever that happens.
//
// Nothing here has a goroutine or reads a clock.
package graph
