package compile

import "unsafe"

// unsafeBytes views s as bytes that nobody may change, so that the assembly
// behind bytes.Contains serves literals without a copy of each.
func unsafeBytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
