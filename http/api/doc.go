// Package api answers every HTTP route of the daemon.
//
// One file holds one resource: its routes and permissions, the interface that the
// daemon supplies for it, its request and answer types. Routes of features that this
// build does not have stand in one table, unavailableRoutes. Probes and metrics are
// answered at once; every other route answers 503 "starting" before Mount. Every
// error is a JSON object with a string "error". The texts of errors are part of the
// API and do not change.
package api
