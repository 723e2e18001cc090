//go:build race

package acceptance

// buildFlags has the binary watched for races when the tests are.
var buildFlags = []string{"-race"}

// watched says that tests which only drive programs of their own need not run again.
const watched = true
