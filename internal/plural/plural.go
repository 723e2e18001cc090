// Package plural writes numbers of things for people.
package plural

import "fmt"

type integer interface{ ~int | ~int64 | ~uint64 }

// Of is a number of things: "1 rule", "2 rules". The noun has a plural of one more s.
func Of[N integer](n N, noun string) string { return Either(n, noun, noun+"s") }

// Either is a number in front of what is said of one, or else of any other number: "1 line
// begins", "0 lines begin".
func Either[N integer](n N, one, others string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, others)
}
