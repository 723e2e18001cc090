// Package watch tells of changes of files and of the directories that hold them: of
// files that are written, replaced by a rename, created late, or exchanged through a link,
// as mounted volumes do.
package watch
