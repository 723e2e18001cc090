// Package migrate moves the sources that pipelines declare in themselves to files of
// their own.
//
// What is moved keeps its keys in their order, its comments and how its scalars are
// written. What stays in a pipeline keeps every byte where the block stands in lines of its
// own. Both are read again and compared with what was read before, before anything is
// replaced. No file that is there is overwritten but the pipelines, and these only after
// their sources are on the disk.
package migrate
