// Package api answers every HTTP route of the daemon.
//
// One file holds one resource. The package declares the small interfaces it
// needs and the daemon supplies them: the probes and metrics from the first
// moment, everything else with Mount, before which it is answered 503
// "starting". Every error is a JSON object with a string "error", whatever went
// wrong; texts that the specification quotes are wire values and do not change.
package api
