// Package checks is what the start demands of a configuration, short of binding,
// connecting and fetching. The start and `config validate` make the same checks:
// the start stops at the first that fails, with all of its problems; validation
// makes all of them, and loads the rules.
package checks
