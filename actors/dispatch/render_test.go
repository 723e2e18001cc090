package dispatch

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/graph"
)

func TestRenderedLinesStayAsTheyWere(t *testing.T) {
	r := renderer{from: new(sheets), sinks: 1}
	var items []*graph.Item
	var want []string
	for i := range 3000 {
		l := &graph.ResultSet{}
		var text strings.Builder
		for j := range i % 4 {
			title := fmt.Sprintf("%d-%d-%s", i, j, strings.Repeat("x", (i*37)%2000*(i%11/10)))
			res := detection(title)
			l.Results = append(l.Results, res)
			text.Write(append(res.AppendNative(nil), '\n'))
		}
		if i%100 == 0 {
			l.Record = note(strings.Repeat("r", i*10))
			text.Reset()
			text.WriteString(strings.Repeat("r", i*10) + "\n")
			l.Results = nil
		}
		items = append(items, r.item(l, time.Time{}))
		want = append(want, text.String())
	}
	for i, item := range items {
		if got := string(bytes.Join(item.Lines, nil)); got != want[i] {
			t.Fatalf("item %d is %.80q, want %.80q", i, got, want[i])
		}
	}
}

func BenchmarkRender(b *testing.B) {
	r := renderer{from: new(sheets), sinks: 1}
	l := &graph.ResultSet{Results: []graph.Result{detection("a title of a rule"), detection("another")}}
	b.ReportAllocs()
	for b.Loop() {
		r.item(l, time.Time{}).Release()
	}
}

// What a sink still needs is not written over, however many others are through.
func TestASheetIsUsedAgainWhenAllOfItHasEnded(t *testing.T) {
	r := renderer{from: new(sheets), sinks: 2}
	render := func(text string) *graph.Item { return r.item(&graph.ResultSet{Record: note(text)}, time.Time{}) }
	kept := render("kept")
	for i := range 100 * sheetItems {
		item := render(strconv.Itoa(i))
		item.Release()
		if i%2 == 0 {
			item.Release()
			continue
		}
		if got := string(item.Lines[0]); got != strconv.Itoa(i)+"\n" {
			t.Fatalf("item %d is %q after one of two sinks is through with it", i, got)
		}
		item.Release()
	}
	if got := string(kept.Lines[0]); got != "kept\n" {
		t.Errorf("the item nobody ended is %q, want %q", got, "kept\n")
	}
}

func TestRenderingAllocatesNothing(t *testing.T) {
	r := renderer{from: new(sheets), sinks: 1}
	l := &graph.ResultSet{Results: []graph.Result{detection("a title of a rule"), detection("another")}}
	perItem := testing.AllocsPerRun(100*sheetItems, func() { r.item(l, time.Time{}).Release() })
	if perItem > 0.5 { // a collection may empty the pool
		t.Errorf("%.2f allocations for an item, want none", perItem)
	}
}
