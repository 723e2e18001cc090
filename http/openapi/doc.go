// Package openapi makes OpenAPI 3.1 documents of operations whose requests and answers
// are Go types.
//
// A type becomes the JSON Schema of what encoding/json makes of it: its json tags, what
// may be left out, embedded structs. The tags doc, enum, min and max of a field add what
// a type cannot say. Every named struct is one component. The package knows nothing of
// the service that it describes, and the same operations always make the same bytes.
package openapi
