package step

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/result"
)

// sharing returns results of n rules that all show one value.
func sharing(n int, value string) (all []graph.Result) {
	var b result.Batch
	own := b.Bytes([]byte(strconv.Quote(value)))
	for i := range n {
		d := b.Add(result.NewRule(i, &ast.Rule{Meta: ast.Meta{Title: "R" + strconv.Itoa(i)}}))
		d.Fields = b.FieldList([]result.Field{{Name: "f", Value: own}})
		all = append(all, graph.Result{Detection: d})
	}
	return all
}

func TestALongSetIsRenderedInPieces(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for _, tc := range []struct {
		name    string
		results []graph.Result
		forms   []graph.Form
		pieces  int // of the set
		most    int // bytes of bodies in a piece
	}{
		{"one short result", sharing(1, "x"), []graph.Form{Native{}}, 1, 200},
		{"many short results", sharing(1000, "x"), []graph.Form{Native{}}, 1, pieceBytes * 11 / 10},
		{"more short results than a piece takes", sharing(5000, "x"), []graph.Form{Native{}}, 3, pieceBytes * 11 / 10},
		{"long results", sharing(100, long), []graph.Form{Native{}}, 100, 1<<20 + 1000},
		{"results of a tenth of a piece", sharing(100, long[:pieceBytes/10]), []graph.Form{Native{}}, 12, pieceBytes * 11 / 10},
		{"indented", sharing(1000, long[:10_000]), []graph.Form{Pretty{}}, 40, 2 * pieceBytes},
		{"a form that takes a few", sharing(50, long), []graph.Form{titled{"R1"}, Native{}}, 50, 1<<20 + 1000},
		{"a form that cannot write some", append(sharing(50, long), detection("x?")), []graph.Form{titled{}, Native{}}, 51, 1<<20 + 1000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := NewRender(tc.forms)
			set := &graph.ResultSet{Results: tc.results, Held: 2 << 20}
			id, pieces := graph.DeliveryID{7}, 0
			seen := make([][]int, len(tc.forms)) // numbers of the results, by form
			held := 0
			for first := 0; first < len(set.Results); pieces++ {
				r.Close()
				_, next := r.Piece(set, first, id, time.Time{})
				offered := r.added(graph.Token{})
				if next <= first {
					t.Fatalf("the piece from %d on ends at %d", first, next)
				}
				for form, one := range offered {
					if one == nil {
						continue
					}
					bytes := 0
					for i, m := range one.Messages {
						bytes += len(m.Body)
						seen[form] = append(seen[form], m.Index)
						if m.ID != id {
							t.Fatalf("result %d is of delivery %s, want that of the set", m.Index, m.ID)
						}
						want := string(set.Results[m.Index].AppendNative([]byte{'['})) + "]"
						if got := string(one.Sets[0].AppendOriginal(nil, i, i+1)); got != want {
							t.Fatalf("a dead letter of result %d shows %.100q, want %.100q", m.Index, got, want)
						}
					}
					if bytes > tc.most || one.Bytes < bytes {
						t.Errorf("a piece has %d bytes and counts %d, want at most %d, all counted", bytes, one.Bytes, tc.most)
					}
					if form == 0 {
						held += one.Bytes - bytes
					}
					one.Release()
				}
				first = next
			}
			if pieces != tc.pieces {
				t.Errorf("%d pieces, want %d", pieces, tc.pieces)
			}
			for form, numbers := range seen {
				if !slices.IsSorted(numbers) || len(slices.Compact(slices.Clone(numbers))) != len(numbers) {
					t.Errorf("form %d: results %v, want each once and in order", form, numbers)
				}
			}
			if last := seen[len(seen)-1]; len(last) != len(set.Results) {
				t.Errorf("%d results rendered, want %d", len(last), len(set.Results))
			}
			if held > 2<<20+len(set.Results)*2*messageBytes+len(set.Results)*200 {
				t.Errorf("pieces count %d bytes beside their bodies, want about what the set holds", held)
			}
		})
	}
}

func TestTheSizeOfAResultIsAboutThatOfItsLine(t *testing.T) {
	rule := result.NewRule(0, &ast.Rule{Meta: ast.Meta{Title: strings.Repeat("t", 500), Tags: []string{"a"}}, Detections: nil})
	var b result.Batch
	bare := b.Add(rule)
	full := b.Add(rule)
	full.Selections = result.NewSelections(rule, []string{"sel"})
	full.Extra = &result.Extra{Event: []byte(`{"a":"` + strings.Repeat("e", 1000) + `"}`)}
	for range 20 {
		full.Fields = append(full.Fields, result.Field{Name: "name", Value: []byte(`"value"`), Match: &result.Match{
			Selection: "sel", Matcher: "startswith", Pattern: strings.Repeat("p", 200), HasPattern: true, ShowCase: true,
		}})
	}
	for name, r := range map[string]graph.Result{
		"bare": {Detection: bare}, "every part": {Detection: full}, "enriched": {Detection: full, Enrichments: []byte(`{"a":1}`)},
	} {
		got, want := r.Size(), len(r.AppendNative(nil))
		if got < want*9/10 || got > want*11/10 {
			t.Errorf("%s: size %d, line %d bytes", name, got, want)
		}
	}
	if got := (&graph.Result{Correlation: new(correlation.Result)}).Size(); got <= 0 {
		t.Errorf("a correlation has size %d", got)
	}
}
