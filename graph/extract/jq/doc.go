// Package jq runs jq programs that can neither run for ever nor use up the memory.
//
// A run may take so many steps and allocate so many bytes. Both are counted, not
// measured: a program and a value have the same outcome on every machine. The library
// asks before each of its instructions whether to go on, which is a step. What one
// instruction may cost beyond that is charged by guards, which stand in the program in
// front of whatever costs more the larger its operands are. The functions that jq
// defines in its own language are part of the program, so that guards stand in them,
// too.
//
// A program sees its value and nothing else: there are no files, modules, variables,
// further inputs and no environment, and it cannot end the process or write anywhere.
package jq
