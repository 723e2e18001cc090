package actors

// Member is a member of the object that GET /api/v1/status shows. The value is
// encoded as JSON.
type Member struct {
	Name  string
	Value any
}
