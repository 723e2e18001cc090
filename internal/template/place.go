package template

// Place is where a rendered template goes. It says how values are escaped.
type Place uint8

// The places.
const (
	// Plain escapes nothing: texts, arguments and variables of commands, and bodies
	// that are not JSON.
	Plain Place = iota
	// URL percent-encodes a value as a path segment, so that it adds no step to the
	// path, no query and no host. Environment variables stand as they are: a whole URL
	// may come from the environment. The rendered text goes through ParseURL.
	URL
	// Header escapes nothing: the rendered text goes through CheckHeader.
	Header
	// JSON is a body of a JSON type, see IsJSON. Within a JSON string of the template
	// values are escaped as its inside. Elsewhere they are JSON themselves: null if
	// there is none, and a JSON string if the value is a text, as environment variables
	// are.
	JSON
	// Expression is an expression of jq, JSONPath or CEL. In values, quotes, backslashes
	// and control characters become \uXXXX, so that a value within a quoted string of the
	// expression cannot end it. Environment variables stand as they are.
	Expression
)

// String names the place.
func (p Place) String() string {
	switch p {
	case URL:
		return "URL"
	case Header:
		return "header"
	case JSON:
		return "JSON"
	case Expression:
		return "expression"
	}
	return "plain"
}
