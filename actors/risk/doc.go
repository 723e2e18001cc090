// Package risk is the stage that scores results and sums the risk of entities.
//
// Nothing is configured for it yet: data passes unchanged, barriers are exported
// to, and questions are answered.
package risk
