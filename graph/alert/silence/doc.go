// Package silence keeps what operators do not want to hear of for a while.
//
// A silence has matchers, all of which a result has to match, and perhaps a start and an
// end. It is pending before its start, active until its end, and expired from then on;
// only an active one mutes. Times are whole seconds.
//
// A Set holds the silences of the configuration and those of the API. Its cost for a
// result does not grow with the number of silences: a silence is found by the value of one
// of its equality matchers, and silences without one share the evaluation of equal
// matchers.
package silence
