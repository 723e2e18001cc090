// Package watch tells of changes of single files and of the YAML files in directories: of
// files that are written, replaced by a rename, created late, or exchanged through a link,
// as mounted volumes do.
package watch
