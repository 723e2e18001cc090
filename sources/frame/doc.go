// Package frame finds the values in a stream of JSON without reading them.
//
// A Scanner is given the stream in pieces of any size and says where each value
// begins and ends. It looks at nesting, strings and separators only: whether a value
// is JSON is found out by whoever decodes it, so a broken one is one fault and its
// neighbours are unharmed. A Sniffer says whether a text is such a stream at all, or
// lines.
package frame
