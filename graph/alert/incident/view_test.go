package incident

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestViewsAreSortedAndFound(t *testing.T) {
	s := play(t, graphed(t, "match.A"))
	for i := range 12 { // I10 comes before I2 where the times are the same
		s.at(int64(i/6), fmt.Sprintf("r high A=%d", i))
	}
	v := s.store.Export()
	var ids []string
	for e := range v.Each {
		ids = append(ids, e.ID())
	}
	want := strings.Fields("I1 I2 I3 I4 I5 I6 I10 I11 I12 I7 I8 I9")
	if !slices.Equal(ids, want) {
		t.Errorf("order %v, want %v", ids, want)
	}
	for e := range v.Each {
		same(t, "first of those that are looked at", e.ID(), "I1")
		break
	}
	if e, ok := v.Find("I11"); !ok || e.ID() != "I11" {
		t.Error("I11 is not found")
	}
	if _, ok := v.Find("I13"); ok {
		t.Error("I13 is found")
	}
	var none *View
	for range none.Each {
		t.Error("a nil view has an incident")
	}
	_, ok := none.Find("I1")
	same(t, "found in a nil view", ok, false)
	same(t, "length of a nil view", none.Len(), 0)
	if s.store.Export() != v {
		t.Error("nothing has changed, and there is another view")
	}
}

// Views and records are read while the store goes on, and show what they showed.
func TestViewsAndRecordsNeverChange(t *testing.T) {
	for _, c := range []Config{grouped(t, "match.A"), graphed(t, "match.A", "match.B", "match.C")} {
		t.Run(string(c.Mode), func(t *testing.T) {
			c.Wait, c.Interval, c.Repeat, c.Resolve = 1, 2, 3, 20
			c.MaxEntities, c.MaxCardinality, c.MaxResults = 4, 6, 20
			store, r := New(c, numberedIDs()), rand.New(rand.NewPCG(1, 2))
			encode := func(v *View) []byte {
				var out bytes.Buffer
				if err := v.Encode(&out); err != nil {
					t.Error(err)
				}
				for e := range v.Each {
					out.Write(e.AppendSnapshot(nil))
				}
				return out.Bytes()
			}
			var wait sync.WaitGroup
			defer wait.Wait()
			for step := range 600 {
				text := fmt.Sprintf("r%d high A=%d B=%d C=%d", r.IntN(12), r.IntN(30), r.IntN(30), r.IntN(30))
				store.Assign(hit(t, text), int64(step/4))
				if step%3 == 0 {
					store.Tick(int64(step/4), loud, func(r *Record) {
						want := r.AppendNative(nil)
						wait.Go(func() {
							for range 5 {
								if got := r.AppendNative(nil); !bytes.Equal(got, want) {
									t.Errorf("the record\n%s\nis now\n%s", want, got)
								}
								_ = r.OCSFIncident()
							}
						})
					})
				}
				if step%50 == 7 {
					c.Include = []Include{Refs, Results}[step/50%2]
					store.Configure(c)
				}
				if step%5 != 0 {
					continue
				}
				v := store.Export()
				want := encode(v)
				wait.Go(func() {
					for range 5 {
						if got := encode(v); !bytes.Equal(got, want) {
							t.Errorf("the view\n%s\nis now\n%s", want, got)
						}
					}
				})
			}
		})
	}
}

func TestAFailingWriterEndsTheEncoding(t *testing.T) {
	store, _ := crowd(t, grouped(t, "match.Host"), 1000)
	for _, limit := range []int{0, 1, 40_000} {
		if err := store.Export().Encode(&short1{limit}); err != io.ErrShortWrite {
			t.Errorf("behind %d bytes: %v", limit, err)
		}
	}
}

// short1 takes so many bytes.
type short1 struct{ left int }

func (w *short1) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

// What takes long is measured many times, and the fastest counts: others use the machine.
func fastest(n int, f func()) time.Duration {
	best := time.Hour
	for range n {
		start := time.Now()
		f()
		best = min(best, time.Since(start))
	}
	return best
}

func TestExportsAndTicksOfManyIncidents(t *testing.T) {
	store, results := crowd(t, graphed(t, "match.Host", "match.User", "match.Ip"), 100_000)
	export := fastest(10, func() {
		store.Assign(results[7], 31)
		store.Export()
	})
	tick := fastest(100, func() { store.Tick(32, loud, func(*Record) { t.Error("a record") }) })
	t.Logf("with 100,000 open incidents an export takes %v, a tick with nothing due %v", export, tick)
	if export > 5*time.Millisecond {
		t.Errorf("an export takes %v, want 5ms at most", export)
	}
	if tick > time.Millisecond {
		t.Errorf("a tick takes %v, want 1ms at most", tick)
	}
}
