package state

import "slices"

// maxPositions is how many streams a head remembers.
const maxPositions = 4096

// Positions are how far the sources had come, one for each stream.
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

// mergePositions puts newer positions before older ones of other streams.
func mergePositions(older, newer []Position) []Position {
	all := slices.Clone(newer)
	for _, o := range older {
		if !slices.ContainsFunc(newer, func(n Position) bool { return n.Stream == o.Stream || n.Stream == "" || o.Stream == "" }) {
			all = append(all, o)
		}
	}
	return all[:min(len(all), maxPositions)]
}
