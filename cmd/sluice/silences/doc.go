// Package silences makes silences for the API: of matchers as people write them, of what an
// incident is grouped by, and of a result.
package silences
