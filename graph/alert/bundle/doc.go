// Package bundle makes a document of an incident for the person who takes it over: the
// incident, the rules that contributed with what their authors wrote for analysts, and the
// entities with risk that it overlaps. The document is written as JSON or as Markdown.
//
// Much of it comes from events and from rules, so somebody else may have chosen it. Markdown
// shows such texts and never takes them as markup.
package bundle
