// Package observe is the stage that looks at decoded events and never changes
// them.
//
// Nothing is configured for it yet: batches pass, barriers are exported to, and
// questions are answered.
package observe
