// Package incident groups results into incidents, and says when there is something to
// report of them.
package incident
