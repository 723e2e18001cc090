// Package alert is the stage that hides, folds and groups results.
//
// Nothing is configured for it yet: data passes unchanged, barriers are exported
// to, and questions are answered.
package alert
