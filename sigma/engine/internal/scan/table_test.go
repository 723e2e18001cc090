package scan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/event"
)

// However patterns overlap, a table leads to the fields that following each pattern on
// its own leads to.
func TestTablesFollowEveryPattern(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		segment := func() string { return []string{"a", "b", "c", "*", "*"}[r.IntN(5)] }
		table := NewTable()
		var paths []event.Path
		var patterns []string
		for id := range uint32(1 + r.IntN(6)) {
			parts := make([]string, 1+r.IntN(4))
			for i := range parts {
				parts[i] = segment()
			}
			if parts[0] == "*" {
				parts[0] = "a"
			}
			p := event.ParsePattern(strings.Join(parts, "."))
			if slices.Contains(patterns, p.Name) {
				continue
			}
			patterns = append(patterns, p.Name)
			paths = append(paths, p)
			_ = id
			table.AddPath(uint32(len(paths)), p.Segments, 0, false)
		}
		table.Settle()
		var object func(depth int) string
		object = func(depth int) string {
			var members []string
			for _, key := range []string{"a", "b", "c", "d"} {
				switch {
				case r.IntN(3) == 0:
				case depth > 0 && r.IntN(4) > 0:
					members = append(members, fmt.Sprintf("%q:%s", key, object(depth-1)))
				default:
					members = append(members, fmt.Sprintf("%q:%d", key, r.IntN(100)))
				}
			}
			return "{" + strings.Join(members, ",") + "}"
		}
		line := []byte(object(4))
		cells, root, err := NewScanner(table).Scan(nil, line)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range paths {
			var got, want []string
			for _, c := range cells {
				if c.Field == uint32(i+1) && c.Flags&Terminal != 0 {
					got = append(got, string(c.Value(line).Raw))
				}
			}
			for _, h := range p.Resolve(nil, root, false) {
				want = append(want, string(h.Raw))
			}
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d, patterns %q, event %s: %s finds %q, want %q", seed, patterns, line, p.Name, got, want)
			}
		}
	}
}

// Names beside a pattern, and fields below it, must not multiply.
func TestPatternsAndNamesDoNotMultiply(t *testing.T) {
	table := NewTable()
	const n = 2000
	for i := range uint32(n) {
		a, b := event.ParsePattern(fmt.Sprintf("e.u.*.f%d", i)), event.ParsePattern(fmt.Sprintf("e.u.x%d.y", i))
		table.AddPath(2*i+1, a.Segments, 0, false)
		table.AddPath(2*i+2, b.Segments, 0, false)
	}
	table.Settle()
	if most := 10 * n; len(table.nodes) > most {
		t.Errorf("%d names and patterns make %d nodes, want at most %d", 2*n, len(table.nodes), most)
	}
}
