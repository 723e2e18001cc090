// Package document reads YAML files the way Sigma documents are written: the
// scalar types of the YAML 1.2 core schema, mappings in written order, lines,
// and several documents in one file.
//
// A fault of the syntax ends a file and keeps what was read before it.
// Repeated keys are such a fault.
package document
