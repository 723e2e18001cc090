package scan

import "github.com/sluicehq/sluice/sigma/event"

// Scan reads a line that is one value, with white space around it.
func (s *Scanner) Scan(dst []Cell, line []byte) ([]Cell, event.Value, error) {
	start := SkipSpace(line, 0)
	cells, end, err := s.Value(dst, line[start:], 0)
	if err != nil || SkipSpace(line, start+end) != len(line) {
		return dst, event.Value{}, ErrSyntax
	}
	for i := len(dst); i < len(cells); i++ {
		cells[i].Start, cells[i].End = cells[i].Start+uint32(start), cells[i].End+uint32(start)
	}
	return cells, event.ValueOf(line[start : start+end]), nil
}
