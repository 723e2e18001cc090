package dispatch

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/graph"
)

func TestRenderedLinesStayAsTheyWere(t *testing.T) {
	var r renderer
	var items []*graph.Item
	var want []string
	for i := range 3000 {
		l := &graph.List{}
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
	var r renderer
	l := &graph.List{Results: []graph.Result{detection("a title of a rule"), detection("another")}}
	b.ReportAllocs()
	for b.Loop() {
		r.item(l, time.Time{})
	}
}
