package actors

// Detail asks an actor for the members of its record that no other actor has. The
// reply is a struct that renders as that object.
type Detail struct{}
