//go:build race

package acceptance

// buildFlags has the binary watched for races when the tests are.
var buildFlags = []string{"-race"}
