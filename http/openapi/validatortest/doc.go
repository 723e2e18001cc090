// Package validatortest has a library of OpenAPI read the document. It is a module of its
// own, because the library needs many others.
package validatortest
