package state

import "slices"

// Positions are how far the sources had come, one for each consumer of a stream.
func (h *Head) Positions() []Position {
	if h.Position == nil {
		return nil
	}
	return append([]Position{*h.Position}, h.Others...)
}

func (h *Head) setPositions(all []Position) {
	if len(all) > 0 {
		h.Position, h.Others = &all[0], all[1:]
	}
}

// maxPositions is how many positions NewerPositions returns.
const maxPositions = 4096

// NewerPositions are the newer positions, and behind them the older ones of other
// consumers.
func NewerPositions(newer, older []Position) []Position {
	all := slices.Clone(newer)
	for _, o := range older {
		if !slices.ContainsFunc(newer, o.same) {
			all = append(all, o)
		}
	}
	return all[:min(len(all), maxPositions)]
}

// same reports whether two positions are of one consumer. Those of old heads say less.
func (p Position) same(o Position) bool {
	return (p.Stream == o.Stream || p.Stream == "" || o.Stream == "") && (p.Consumer == o.Consumer || p.Consumer == "" || o.Consumer == "")
}
