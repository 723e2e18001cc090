package literal

import "slices"

// Set holds the literals that are looked for in the texts of one field.
type Set struct {
	exact  exactTable
	prefix affixTable
	suffix affixTable
	ascii  *Index      // literals of ASCII characters
	short  *shortIndex // the shortest of them, if there are any
	high   *highIndex  // other literals, which only texts with such characters contain
}

// Builder collects the literals of a Set. The ids are the caller's.
type Builder struct {
	exact, prefix, suffix, ascii, short, high []Literal

	rarity Rarity
}

// Literal is a text and the number under which it is reported.
type Literal struct {
	Text string
	ID   uint32
}

// Rarity tells how often a window of four bytes is met in traffic. Only the
// order matters.
type Rarity func(window uint32) int

// NewBuilder returns a builder that files literals under the windows that are
// rarest.
func NewBuilder(r Rarity) *Builder { return &Builder{rarity: r} }

// AddExact looks for texts that equal s.
func (b *Builder) AddExact(s string, id uint32) { b.exact = append(b.exact, Literal{s, id}) }

// AddPrefix looks for texts that begin with s.
func (b *Builder) AddPrefix(s string, id uint32) { b.prefix = append(b.prefix, Literal{s, id}) }

// AddSuffix looks for texts that end with s.
func (b *Builder) AddSuffix(s string, id uint32) { b.suffix = append(b.suffix, Literal{s, id}) }

// AddContains looks for texts that contain s, which CanContain accepts.
func (b *Builder) AddContains(s string, id uint32) {
	switch {
	case !isASCII(s):
		b.high = append(b.high, Literal{s, id})
	case len(s) < minNarrow:
		b.short = append(b.short, Literal{s, id})
	default:
		b.ascii = append(b.ascii, Literal{s, id})
	}
}

// CanContain reports whether a Set can look for s inside texts: all but the
// shortest literals.
func CanContain(s string) bool { return len(s) >= MinShort || !isASCII(s) }

// IsCheap reports whether looking for s inside texts costs next to nothing once
// other literals are looked for.
func IsCheap(s string) bool { return len(s) >= minNarrow || !isASCII(s) }

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// maxAllPhases is how many literals, all long enough to be met at every fourth
// position, are filed under four windows each rather than two: more would let too
// much pass.
const maxAllPhases = 512

// Build returns the set. A few short literals join the others. Many get an index
// of their own, in which literals of medium length join them, so that the others
// need half the looks.
func (b *Builder) Build() *Set {
	stride := narrow
	var tiny []Literal
	medium := func(l Literal) bool { return len(l.Text) < minWide }
	switch {
	case len(b.short) == 0 && len(b.ascii) <= maxAllPhases && !slices.ContainsFunc(b.ascii, medium):
		stride = wide
	case marksOf(b.short) <= maxTinyMarks:
		tiny, b.short = b.short, nil
	default:
		stride = wide
		for _, l := range b.ascii {
			if medium(l) {
				b.short = append(b.short, l)
			}
		}
		b.ascii = slices.DeleteFunc(b.ascii, medium)
	}
	return &Set{
		exact:  newExactTable(b.exact),
		prefix: newAffixTable(b.prefix, false),
		suffix: newAffixTable(b.suffix, true),
		ascii:  newIndex(b.ascii, tiny, b.rarity, stride),
		short:  newShortIndex(b.short, b.rarity),
		high:   newHighIndex(b.high),
	}
}

// Find appends the ids of the literals that the text satisfies, in any order
// and some perhaps several times. High says that the text may have bytes
// outside ASCII.
func (s *Set) Find(dst []uint32, text []byte, high bool) []uint32 {
	if s.exact.lengths != 0 {
		dst = s.exact.find(dst, text)
	}
	if s.prefix.lengths != 0 || s.prefix.empty != nil || s.prefix.deeper != nil {
		dst = s.prefix.find(dst, text)
	}
	if s.suffix.lengths != 0 || s.suffix.empty != nil || s.suffix.deeper != nil {
		dst = s.suffix.find(dst, text)
	}
	if s.ascii != nil {
		dst = s.ascii.Find(dst, text)
	}
	if s.short != nil {
		dst = s.short.find(dst, text)
	}
	if high && s.high != nil {
		dst = s.high.find(dst, text)
	}
	return dst
}
