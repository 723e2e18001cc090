package sources

import "github.com/sluicehq/sluice/graph"

// Lend copies texts that a source has made itself into memory of b, and appends a line to
// dst for each of them. The texts stand one behind the other, and each ends where ends
// says. Every line has its share of the memory.
func (b *Buffers) Lend(dst []graph.Line, texts []byte, ends []int) []graph.Line {
	if len(ends) == 0 {
		return dst
	}
	p := portion{size: len(texts)}
	p.buffer, p.memory = b.get(max(1, len(texts)))
	p.memory = append(p.memory, texts...)
	p.measure()
	from := 0
	for _, end := range ends {
		text := Text{Bytes: p.memory[from:end:end]}
		p.keep(&text)
		dst = append(dst, graph.Line{Raw: text.Bytes, Buffer: text.Buffer, Held: uint32(text.Held)})
		from = end
	}
	p.buffer.Retain(p.lines - 1) // one is that of who asked for the memory
	return dst
}
