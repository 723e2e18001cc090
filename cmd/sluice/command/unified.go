package command

import (
	"fmt"
	"slices"
	"sort"
)

// edit is one line of a comparison with its mark: ' ' for a line of both texts,
// '-' for one of the first and '+' for one of the second alone.
type edit struct {
	mark byte
	line string
}

// unifiedDiff returns the hunks that turn before into after, with as many lines
// of context around changes.
func unifiedDiff(before, after []string, context int) []string {
	edits := compare(before, after)
	var out []string
	a, b := 1, 1 // the number of the next line of each text
	for i := 0; i < len(edits); {
		first := i + slices.IndexFunc(edits[i:], func(e edit) bool { return e.mark != ' ' })
		if first < i {
			break
		}
		start := max(i, first-context)
		a, b = a+start-i, b+start-i
		end := hunkEnd(edits, first, context)
		var countA, countB int
		var lines []string
		for _, e := range edits[start:end] {
			lines = append(lines, string(e.mark)+e.line)
			if e.mark != '+' {
				countA++
			}
			if e.mark != '-' {
				countB++
			}
		}
		out = append(out, fmt.Sprintf("@@ -%s +%s @@", lineRange(a, countA), lineRange(b, countB)))
		out = append(out, lines...)
		a, b, i = a+countA, b+countB, end
	}
	return out
}

// hunkEnd returns where the hunk with the change at first ends: behind the
// context of the last change that is not further than two contexts from the one
// before it.
func hunkEnd(edits []edit, first, context int) int {
	last := first
	for i := first; i < len(edits) && i <= last+2*context+1; i++ {
		if edits[i].mark != ' ' {
			last = i
		}
	}
	return min(last+1+context, len(edits))
}

// lineRange is how a hunk names lines: the first one and, unless it is one, how
// many; an empty range lies behind the line it names.
func lineRange(first, count int) string {
	switch count {
	case 0:
		return fmt.Sprintf("%d,0", first-1)
	case 1:
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d,%d", first, count)
}

// compare aligns two texts. It anchors on lines that occur once in both, so that
// its cost does not grow with the number of changes; between two anchors it is
// exact unless the gap is large.
func compare(before, after []string) []edit {
	var out []edit
	a, b := 0, 0
	for _, m := range anchors(before, after) {
		out = appendGap(out, before[a:m[0]], after[b:m[1]])
		out = append(out, edit{' ', before[m[0]]})
		a, b = m[0]+1, m[1]+1
	}
	return appendGap(out, before[a:], after[b:])
}

// anchors returns the longest ascending sequence of pairs of positions whose
// lines are equal and occur once in each text.
func anchors(before, after []string) [][2]int {
	const once, several = 1, 2
	count := func(lines []string) map[string]int {
		n := make(map[string]int, len(lines))
		for _, l := range lines {
			n[l] = min(n[l]+1, several)
		}
		return n
	}
	inBefore, inAfter := count(before), count(after)
	position := make(map[string]int)
	for i, l := range after {
		if inAfter[l] == once && inBefore[l] == once {
			position[l] = i
		}
	}
	// Patience: ends[k] is the pair that ends the best sequence of k+1 pairs.
	var pairs [][2]int
	var previous, ends []int
	for i, l := range before {
		p, ok := position[l]
		if !ok {
			continue
		}
		k := sort.Search(len(ends), func(k int) bool { return pairs[ends[k]][1] > p })
		back := -1
		if k > 0 {
			back = ends[k-1]
		}
		pairs, previous = append(pairs, [2]int{i, p}), append(previous, back)
		if k == len(ends) {
			ends = append(ends, 0)
		}
		ends[k] = len(pairs) - 1
	}
	var out [][2]int
	if len(ends) > 0 {
		for i := ends[len(ends)-1]; i >= 0; i = previous[i] {
			out = append(out, pairs[i])
		}
	}
	slices.Reverse(out)
	return out
}

// gapCells bounds the table of an exact comparison.
const gapCells = 1 << 18

// appendGap compares what stands between two anchors.
func appendGap(out []edit, a, b []string) []edit {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		out = append(out, edit{' ', a[0]})
		a, b = a[1:], b[1:]
	}
	var tail []edit
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		tail = append(tail, edit{' ', a[len(a)-1]})
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	common := func(int, int) int { return 0 }
	if len(a)*len(b) <= gapCells {
		common = commonLines(a, b)
	}
	i, j := 0, 0
	for i < len(a) && j < len(b) && common(i, j) > 0 {
		switch {
		case a[i] == b[j]:
			out = append(out, edit{' ', a[i]})
			i, j = i+1, j+1
		case common(i+1, j) >= common(i, j+1):
			out = append(out, edit{'-', a[i]})
			i++
		default:
			out = append(out, edit{'+', b[j]})
			j++
		}
	}
	for _, l := range a[i:] {
		out = append(out, edit{'-', l})
	}
	for _, l := range b[j:] {
		out = append(out, edit{'+', l})
	}
	slices.Reverse(tail)
	return append(out, tail...)
}

// commonLines returns how many lines a[i:] and b[j:] have in common in order.
func commonLines(a, b []string) func(i, j int) int {
	width := len(b) + 1
	n := make([]int32, (len(a)+1)*width)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				n[i*width+j] = n[(i+1)*width+j+1] + 1
				continue
			}
			n[i*width+j] = max(n[(i+1)*width+j], n[i*width+j+1])
		}
	}
	return func(i, j int) int { return int(n[i*width+j]) }
}
