// Package markdowntest has a library of Markdown read the document of an incident. It is a
// module of its own, because nothing else needs the library.
package markdowntest
