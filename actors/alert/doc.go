// Package alert is the stage that hides, folds and groups results.
//
// It owns the state of the alert pipeline, which package graph/alert keeps, and is the only
// one that tells it the time. Results that go on leave at once and in order. A result that
// is dropped ends its line as a delivery would. Records about alerts and incidents come out
// of a tick, once a second; while the next stage has no room there is no tick.
//
// A silence that is made over the API is stored before the request is answered, by the
// goroutine of the request: the stage goes on meanwhile. Without a file for the pipeline
// results pass unchanged, and silences are held until they end.
package alert
