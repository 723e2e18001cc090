package step

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/graph"
)

// put renders sets one behind the other, each to the end, and returns the bundles of the
// first sink.
func put(r *Render, sets ...*graph.ResultSet) (bundles []*graph.Bundle) {
	for i, set := range sets {
		for first := 0; first == 0 || first < len(set.Results); {
			takers, next := r.Piece(set, first, graph.DeliveryID{byte(i + 1)}, time.Time{})
			if takers > 0 && r.Add(set.Token) && r.Begun(0) != nil {
				bundles = append(bundles, r.Begun(0))
			}
			first = max(next, 1)
		}
	}
	return bundles
}

func sets(titles ...string) (all []*graph.ResultSet) {
	for _, title := range titles {
		all = append(all, &graph.ResultSet{Results: detections(strings.Fields(title)...)})
	}
	return all
}

// sizes are how many sets the bundles have, in brackets where the bodies do not lie as lines.
func sizes(bundles []*graph.Bundle) string {
	var all []string
	for _, b := range bundles {
		format := "%d"
		if b.Lines == nil {
			format = "(%d)"
		}
		all = append(all, fmt.Sprintf(format, len(b.Sets)))
	}
	return strings.Join(all, " ")
}

func TestNeighboursAreBundled(t *testing.T) {
	many := make([]string, 150)
	for i := range many {
		many[i] = fmt.Sprint("title", i)
	}
	wide := strings.Repeat("x", 20_000)
	for _, tc := range []struct {
		name  string
		form  graph.Form
		limit int
		sets  []*graph.ResultSet
		want  string
	}{
		{"one set", Native{}, 64, sets("a"), "1"},
		{"all that come together", Native{}, 64, sets("a", "b c", "d"), "3"},
		{"as many as the sink takes at once", Native{}, 2, sets("a", "b", "c", "d", "e"), "2 2 1"},
		{"one by one", Native{}, 1, sets("a", "b"), "1 1"},
		{"as many as lie in one buffer", Native{}, 1000, sets(many...), "64 64 22"},
		{"long sets go alone", Native{}, 64, sets("a", "b", wide, "c", wide, wide, "d"), "2 1 1 1 1 1"},
		{"sets that the form declines leave no gap", titled{"a"}, 64, sets("a1", "b", "a2 b a3"), "2"},
		{"a message that cannot be written has no line", titled{}, 64, sets("a", "b?", "c"), "(3)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := NewRender([]graph.Form{tc.form})
			r.Limit(0, tc.limit)
			bundles := put(r, tc.sets...)
			if got := sizes(bundles); got != tc.want {
				t.Errorf("bundles of %s sets, want %s", got, tc.want)
			}
			for _, b := range bundles {
				bytes, at := 0, 0
				for i := range b.Sets {
					bytes += b.Sets[i].Bytes
					for j := range b.Sets[i].Messages {
						if one, all := &b.Sets[i].Messages[j], &b.Messages[at]; string(one.Body) != string(all.Body) || one.Index != all.Index || one.ID != all.ID {
							t.Errorf("message %d of the bundle is %+v, want that of set %d, %+v", at, all, i, one)
						}
						at++
					}
				}
				if at != len(b.Messages) || bytes != b.Bytes {
					t.Errorf("%d messages and %d bytes, want those of the sets, %d and %d", len(b.Messages), b.Bytes, at, bytes)
				}
				if b.Lines != nil && string(b.Lines) != text(b) {
					t.Errorf("lines %.100q, want %.100q", b.Lines, text(b))
				}
			}
		})
	}
}

func TestAClosedBundleGrowsNoMore(t *testing.T) {
	r := NewRender([]graph.Form{Native{}, titled{}})
	first := put(r, sets("a", "b")...)
	r.Close()
	second := put(r, sets("c")...)
	if sizes(first) != "2" || sizes(second) != "1" || strings.Contains(text(first[0]), `"c"`) {
		t.Errorf("bundles of %s and %s sets, want 2 and 1", sizes(first), sizes(second))
	}
}

func TestASetThatPanicsLeavesItsBundleAsItWas(t *testing.T) {
	r := NewRender([]graph.Form{Native{}, titled{}})
	bundles := put(r, sets("a")...)
	for range 2 {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("an empty result was rendered")
				}
				r.Undo()
			}()
			r.Piece(&graph.ResultSet{Results: []graph.Result{detection("lost"), {}}}, 0, graph.DeliveryID{}, time.Time{})
		}()
	}
	if more := put(r, sets("b")...); len(more) != 0 {
		t.Errorf("%d further bundles, want the set behind in the same one", len(more))
	}
	if got := text(bundles[0]); sizes(bundles) != "2" || strings.Contains(got, "lost") || string(bundles[0].Lines) != got {
		t.Errorf("a bundle of %s sets: %s", sizes(bundles), got)
	}
}

func TestALineThatGrowsTheBufferIsNotTakenForANeighbour(t *testing.T) {
	r := NewRender([]graph.Form{Native{}})
	// A record tells no size beforehand, so its text may move the buffer's.
	bundles := put(r, &graph.ResultSet{Record: note("small")}, &graph.ResultSet{Record: note(strings.Repeat("r", 2*renderBytes))})
	if sizes(bundles) != "(2)" || text(bundles[0]) != "small\n"+strings.Repeat("r", 2*renderBytes)+"\n" {
		t.Errorf("a bundle of %s sets, %d bytes", sizes(bundles), len(text(bundles[0])))
	}
}

func TestAPieceInHandKeepsItsMemory(t *testing.T) {
	r := NewRender([]graph.Form{Native{}})
	for round := range 3 {
		var before []string
		for i := range renderSets/2 + 1 {
			before = append(before, fmt.Sprint("before ", round, " ", i))
		}
		bundles := put(r, sets(before...)...)
		set := sets(fmt.Sprint("piece", round))[0]
		if takers, _ := r.Piece(set, 0, graph.DeliveryID{1}, time.Time{}); takers != 1 {
			t.Fatalf("%d forms take the set, want 1", takers)
		}
		for _, b := range bundles { // the sink is through with everything
			b.Ended(0, len(b.Sets))
			b.Release()
		}
		r.Close()
		if !r.Add(set.Token) {
			t.Fatal("the piece did not begin a bundle")
		}
		b := r.Begun(0)
		if got := text(b); sizes([]*graph.Bundle{b}) != "1" || !strings.Contains(got, fmt.Sprint("piece", round)) || string(b.Lines) != got {
			t.Errorf("a bundle of %s sets: %s", sizes([]*graph.Bundle{b}), got)
		}
		put(r, sets("behind")...)
		if got := text(b); !strings.Contains(got, fmt.Sprint("piece", round)) {
			t.Errorf("the piece was written over: %s", got)
		}
		b.Ended(0, len(b.Sets))
		b.Release()
		r.Close()
	}
}
