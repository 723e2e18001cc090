package openapi

// Operation is one method of one path.
type Operation struct {
	ID          string // unique, for generated clients
	Method      string // in upper case
	Path        string // with parameters in braces
	Tag         string // what operations are listed by
	Summary     string
	Description string
	// Permission is what a caller needs. Without one, everybody may call the operation.
	Permission string
	// Also is a second permission that callers need under some configurations.
	Also       string
	Audited    bool
	Parameters []Parameter
	Request    *Request
	Answers    []Answer
}

// Parameter is a parameter of the path, of the query or of the header.
type Parameter struct {
	Name, In    string
	Description string
	Required    bool
	Schema      *Schema
}

// Request is the body of a request.
type Request struct {
	Description string
	Required    bool
	Content     []Content
}

// Content is a body of one media type. Body is a value of the type that is encoded; nil
// stands for anything, and a string for text.
type Content struct {
	Type string
	Body any
}

// Answer is one of the answers of an operation. Answers of the same status are told as
// one: any of their bodies.
type Answer struct {
	Status      int
	Description string // one or more sentences
	// Shared names the answer among those that many operations give.
	Shared  string
	Headers []Header
	Content []Content // none: there is no body
	// Errors are the texts that the member error of the body may have. None: any text.
	Errors []string
}

// Header is a header of an answer.
type Header struct {
	Name, Description string
	Required          bool
	Schema            *Schema
}
