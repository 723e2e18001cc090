// Package enrich is the stage that adds facts to results. Its lane is the output queue.
//
// Nothing is configured for it yet: data passes unchanged, barriers are exported
// to, and questions are answered.
package enrich
