// Package reload turns triggers into passes: a signal, a request or a changed
// file asks for one, and those that come within half a second share it.
//
// A trigger that arrives while a pass is running schedules exactly one further
// pass. What a pass builds and publishes is handed in by the daemon; it works on
// everything completely before it swaps anything, so a pass that fails or is
// abandoned by a drain leaves what was there.
package reload
