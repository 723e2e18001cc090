// Package strict reads the YAML files that a configuration names into structs. What a
// struct does not have is a fault, and so is a value of another type: a setting that is
// taken for something else, or for nothing, is worse than one that is refused. Every
// fault of a file is reported, with its line.
//
//	file, faults := strict.Read(data)
//	lines, more := strict.Decode(file, &config)
//	...
//	lines.Of("retry.attempts")     // where a setting stands, for faults of its meaning
package strict
