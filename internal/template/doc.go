// Package template is the language in which requests to other systems are written:
// text with references, such as
//
//	https://tickets.example.org/new?title=${detection.rule.title}
//
// A reference is ${ and one or more characters other than }, and }. Everything else
// is literal, ${} and an unclosed ${ included. There is no escape for a literal
// reference, and references do not nest. A reference without a dot names an
// environment variable, which is read whenever the template is rendered. What a
// reference with a dot stands for is the caller's matter: see Rules.
//
// Rendering cannot fail, and what a reference stands for is never read as a template
// again. It is escaped by the Place that the template stands in, so that no value can
// end the string, path segment or expression that it was written into. Values that a
// place cannot escape are refused when the place is filled: see CheckHeader and
// ParseURL.
//
//	t, err := template.Parse(text, "body", rules)      // at load: every fault at once
//	body = t.Append(body, template.JSON, result)       // per result: no memory but body's
//
// Package graph/binding has the references to parts of results.
package template
