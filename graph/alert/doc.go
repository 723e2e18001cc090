// Package alert is the core of the alert pipeline: it drops results that are inhibited or
// silenced, folds those that repeat, and groups the others into incidents.
//
// A Pipeline takes the results of one line after the other. What it has to say later comes
// out of its ticks, one each second: records of alerts that repeat or have ended, and of
// incidents. The time is an argument, in Unix seconds; nothing here reads a clock, has a
// goroutine, logs or counts. What happened is told in an Outcome or a Ticked.
package alert
