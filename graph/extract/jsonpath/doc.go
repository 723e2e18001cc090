// Package jsonpath selects parts of JSON text by queries of RFC 9535.
//
// What is selected is the text as received, in the order of the text, members of objects
// included. Of several members with one key the last counts. A run over a text may take
// so many steps, which are counted, not measured: a query and a text have the same
// outcome on every machine.
package jsonpath
