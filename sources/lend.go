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

// Keep copies the texts of lines that lie in memory which somebody else has made and which
// they would hold as a whole, such as the answer of a server, into memory of b. Every line has
// its share of it.
func (b *Buffers) Keep(run []graph.Line) {
	for len(run) > 0 {
		n, size := 1, len(run[0].Raw)
		for n < len(run) && size+len(run[n].Raw) <= chunkSize {
			size += len(run[n].Raw)
			n++
		}
		b.keep(run[:n], size)
		run = run[n:]
	}
}

// keep copies lines of a size in all.
func (b *Buffers) keep(run []graph.Line, size int) {
	p := portion{size: size}
	p.buffer, p.memory = b.get(max(1, size))
	p.measure()
	for i := range run {
		from := len(p.memory)
		p.memory = append(p.memory, run[i].Raw...)
		text := Text{Bytes: p.memory[from:len(p.memory):len(p.memory)]}
		p.keep(&text)
		run[i].Raw, run[i].Buffer, run[i].Held = text.Bytes, text.Buffer, uint32(text.Held)
	}
	p.buffer.Retain(p.lines - 1) // one is that of who asked for the memory
}
