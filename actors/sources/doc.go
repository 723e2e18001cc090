// Package sources keeps the values of dynamic sources up to date.
//
// The actor owns a book, which decides which value counts and what is fetched when. Fetches
// run beside the actor, eight at a time and one of each source, and none waits for that of
// another source. Files are watched through their directories, and subscriptions live as
// long as the daemon.
//
// Whoever builds rules takes a round: every source is fetched, each after the round was
// asked for, and what came counts only once the round is committed, so that a reload that
// fails changes no value. Any other fetch that brings another value makes it the current one
// at once and reports the source as changed.
//
// The last value that was really got of each source is the fallback for the next failure.
// With a state database it is there again after a restart.
package sources
