// Package incident groups results into incidents.
package incident

// Ref refers to an incident. The zero Ref is none.
type Ref struct{ slot, gen uint32 }
