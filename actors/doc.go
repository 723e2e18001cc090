// Package actors is the system that runs the actors of the dataflow: it spawns and
// supervises them, knows in which order they stop, and keeps the records that
// operators look at. What an actor is made of stands in actors/mailbox.
package actors
