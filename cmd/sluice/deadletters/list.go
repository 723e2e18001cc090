package deadletters

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/plural"
)

// Listing counts what a listing has met.
type Listing struct {
	All, Shown, Damaged int
	byStage             map[string]int
}

// List hands the records that the filter accepts to write.
func List(f *Files, filter *Filter, write func(*Record) error) (Listing, error) {
	l := Listing{byStage: make(map[string]int)}
	counted := *f
	counted.Damaged = func(d *Damage) {
		l.Damaged++
		f.Damaged(d)
	}
	err := counted.Each(func(r *Record) error {
		l.All++
		if !filter.Accepts(r) {
			return nil
		}
		l.Shown++
		if slices.Contains(Stages(), r.Stage) {
			l.byStage[r.Stage]++
		} else { // few counts, whatever a file says
			l.byStage[otherStages]++
		}
		return write(r)
	})
	return l, err
}

const otherStages = "other stages"

// String is the counts as people read them.
func (l *Listing) String() string {
	text := plural.Of(l.All, "dead letter")
	if l.Shown != l.All {
		text = fmt.Sprintf("%d of %s", l.Shown, text)
	}
	var parts []string
	for _, s := range append(Stages(), otherStages) {
		if n := l.byStage[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	if l.Damaged > 0 {
		text += "; " + plural.Of(l.Damaged, "damaged line")
	}
	return text
}
