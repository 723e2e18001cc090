package incident

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
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
		if err := store.Export().Encode(&short1{limit}); !errors.Is(err, io.ErrShortWrite) {
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
