package dispatch

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/actorstest"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/result"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// note is a record.
type note string

func (n note) AppendNative(dst []byte) []byte { return append(dst, n...) }
func (n note) Kind() graph.Kind               { return "incident" }

func detection(title string) graph.Result {
	var b result.Batch
	return graph.Result{Detection: b.Add(result.NewRule(0, &ast.Rule{Meta: ast.Meta{Title: title}}))}
}

// queue is a sink's queue that keeps the bundles it is given.
type queue struct {
	*actorstest.Recorder[*graph.Bundle]
}

func newQueue() queue {
	r := actorstest.NewRecorder[*graph.Bundle]()
	r.Units = func(b *graph.Bundle) int { return len(b.Sets) }
	return queue{r}
}

// All are the sets that the queue took.
func (q queue) All() (sets []*graph.Rendered) {
	for _, b := range q.Bundles() {
		for i := range b.Sets {
			sets = append(sets, &b.Sets[i])
		}
	}
	return sets
}

// Bundles are what the queue took.
func (q queue) Bundles() []*graph.Bundle { return q.Recorder.All() }

// settle ends every set that the queue took.
func (q queue) settle() {
	for _, b := range q.Bundles() {
		b.Ended(0, len(b.Sets))
		b.Release()
	}
}

// spawn starts a stage with two sinks that block and one that drops.
func spawn(t *testing.T) (s *Stage, one, two, drops queue, deadLetters *actorstest.Recorder[graph.DeadLetter], dropped *int) {
	t.Helper()
	one, two, drops = newQueue(), newQueue(), newQueue()
	deadLetters, dropped = actorstest.NewRecorder[graph.DeadLetter](), new(int)
	s = New(Options{StageOptions: actors.StageOptions{Capacity: 100, DeadLetters: deadLetters}, Sinks: []Sink{
		{Label: "one", Form: step.Native{}, To: one},
		{Label: "two", Form: step.Native{}, To: two},
		{Label: "drops", Form: step.Native{}, To: drops, Dropped: func() { *dropped++ }},
	}})
	system := actorstest.System(t, actors.Options{})
	if _, err := system.Spawn(s.Cell(), s.Produce); err != nil {
		t.Fatal(err)
	}
	return s, one, two, drops, deadLetters, dropped
}

func TestSinksOfOneFormShareWhatIsRendered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, one, two, drops, _, _ := spawn(t)
		settled := 0
		token := graph.NewReceipt(1, func() { settled++ }).Token(0)
		s.Lane().TryPut([]*graph.ResultSet{{Token: token, Results: []graph.Result{detection("A"), detection("B")}}, {Record: note(`{"incident_id":"i"}`)}})
		synctest.Wait()
		sets := one.All()
		if len(sets) != 2 || two.All()[0] != sets[0] || drops.All()[0] != sets[0] {
			t.Fatalf("%d, %d and %d sets arrived, want the same 2", len(sets), len(two.All()), len(drops.All()))
		}
		first, other := sets[0].Messages[1], sets[1].Messages[0]
		if !regexp.MustCompile(`^msg_[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}$`).MatchString(first.ID.String()) || first.ID == other.ID {
			t.Errorf("ids %q and %q, want two random ones", first.ID, other.ID)
		}
		if !first.Time.Equal(time.Now()) || first.Kind != graph.KindDetection || other.Kind != "incident" {
			t.Errorf("messages %+v and %+v, want a detection and an incident of now", first, other)
		}
		var text strings.Builder
		for _, m := range sets[0].Messages {
			text.Write(append(m.Body, '\n'))
		}
		want := `{"rule_title":"A","rule_id":null,"level":null,"tags":[],"matched_selections":[],"matched_fields":[]}` + "\n"
		if got := text.String(); got != want+strings.Replace(want, `"A"`, `"B"`, 1) {
			t.Errorf("got %s, want the two native lines", got)
		}
		if got := string(other.Body); got != "{\"incident_id\":\"i\"}" || sets[1].Record == nil {
			t.Errorf("the record came as %q", got)
		}
		for i, q := range []queue{one, two, drops} {
			if settled != 0 {
				t.Errorf("settled after %d of 3 sinks", i)
			}
			q.settle()
		}
		if settled != 1 {
			t.Errorf("settled %d times, want once", settled)
		}
	})
}

func TestAFullSinkHoldsTheNextSetAndNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, one, two, drops, _, dropped := spawn(t)
		one.SetAvailable(0)
		drops.SetAvailable(1)
		sets := []*graph.ResultSet{{Record: note("1")}, {Record: note("2")}, {Record: note("3")}}
		s.Lane().TryPut(sets)
		synctest.Wait()
		if got := len(two.All()); got != 1 {
			t.Errorf("the idle sink has %d sets, want 1: the next is not offered before all took the first", got)
		}
		one.SetAvailable(-1)
		synctest.Wait()
		if len(one.All()) != 3 || len(two.All()) != 3 || len(drops.All()) != 1 || *dropped != 2 {
			t.Errorf("%d, %d and %d sets, %d dropped, want 3, 3, 1 and 2", len(one.All()), len(two.All()), len(drops.All()), *dropped)
		}
	})
}

func TestSetsLeaveTogetherUpToTheSinkWithTheLeastRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, one, two, drops, _, dropped := spawn(t)
		one.SetAvailable(2)
		drops.SetAvailable(1)
		var sets []*graph.ResultSet
		for i := range 10 {
			sets = append(sets, &graph.ResultSet{Record: note(strconv.Itoa(i))})
		}
		s.Lane().TryPut(sets)
		synctest.Wait()
		if len(one.All()) != 2 || len(two.All()) != 3 {
			t.Errorf("%d and %d sets, want 2, and 3 at the idle sink: the fourth is not offered before all took the third", len(one.All()), len(two.All()))
		}
		one.SetAvailable(-1)
		synctest.Wait()
		if len(one.All()) != 10 || len(two.All()) != 10 || len(drops.All()) != 1 || *dropped != 9 {
			t.Errorf("%d, %d and %d sets, %d dropped, want 10, 10, 1 and 9", len(one.All()), len(two.All()), len(drops.All()), *dropped)
		}
		for i, set := range one.All() {
			if got := string(set.Messages[0].Body); got != strconv.Itoa(i) {
				t.Errorf("set %d is %q, want the order of the sets", i, got)
			}
		}
	})
}

func TestASetThatCannotBeRenderedIsQuarantined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, one, _, _, deadLetters, _ := spawn(t)
		s.Lane().TryPut([]*graph.ResultSet{
			{Raw: []byte("line 1"), Results: []graph.Result{{Correlation: new(correlation.Result)}}}, {Record: note("2")},
		})
		synctest.Wait()
		got := deadLetters.All()
		if len(got) != 1 || string(got[0].Original) != "line 1" || !strings.HasPrefix(got[0].Error, "panic: ") || got[0].Stage != "dispatch" {
			t.Errorf("dead letters %+v, want the line's", got)
		}
		if len(one.All()) != 1 {
			t.Errorf("%d sets, want the next one", len(one.All()))
		}
	})
}

// correlations takes correlations only.
type correlations struct{ step.Pretty }

func (correlations) Accepts(p graph.Payload) bool { return p.Kind() == graph.KindCorrelation }

func TestASinkNeverLearnsOfWhatItsFormDeclines(t *testing.T) {
	for _, tc := range []struct {
		name   string
		beside bool // of a sink that takes everything
		ended  int  // lines, before a sink settles
	}{
		{"beside a sink that takes everything", true, 0},
		{"alone, the line ends in dispatch", false, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				all, few := newQueue(), newQueue()
				few.SetAvailable(0) // without room it holds nothing that it does not take
				sinks := []Sink{{Label: "few", Form: correlations{}, To: few}}
				if tc.beside {
					sinks = append(sinks, Sink{Label: "all", Form: step.Native{}, To: all})
				}
				s := New(Options{StageOptions: actors.StageOptions{Capacity: 100}, Sinks: sinks})
				if _, err := actorstest.System(t, actors.Options{}).Spawn(s.Cell(), s.Produce); err != nil {
					t.Fatal(err)
				}
				receipt := graph.NewReceipt(2, func() {})
				s.Lane().TryPut([]*graph.ResultSet{
					{Token: receipt.Token(0), Results: []graph.Result{detection("A")}}, {Token: receipt.Token(1), Results: []graph.Result{detection("B")}},
				})
				synctest.Wait()
				if got := 2 - receipt.Open(); got != tc.ended {
					t.Errorf("%d lines have ended, want %d", got, tc.ended)
				}
				all.settle()
				if receipt.Open() != 0 || receipt.Overdrawn() != 0 || len(few.All()) != 0 {
					t.Errorf("%d lines are open, %d settled too often, %d sets declined and offered; want none", receipt.Open(), receipt.Overdrawn(), len(few.All()))
				}
			})
		})
	}
}

func TestASinkTakesSetsInBundlesItCanTakeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, pairs := newQueue(), newQueue()
		s := New(Options{StageOptions: actors.StageOptions{Capacity: 100}, Sinks: []Sink{
			{Label: "all", Form: step.Native{}, To: all, AtOnce: 64}, {Label: "pairs", Form: correlationsAndRecords{}, To: pairs, AtOnce: 2},
		}})
		if _, err := actorstest.System(t, actors.Options{}).Spawn(s.Cell(), s.Produce); err != nil {
			t.Fatal(err)
		}
		var sets []*graph.ResultSet
		for i := range 5 {
			sets = append(sets, &graph.ResultSet{Record: note(strconv.Itoa(i))})
		}
		barrier := graph.NewBarrier(1)
		epoch := graph.NewEpoch(nil)
		barrier.Enter(epoch)
		sets = append(sets[:3:3], append([]*graph.ResultSet{{Barrier: barrier}}, sets[3:]...)...)
		s.Lane().TryPut(sets)
		synctest.Wait()
		if len(all.Bundles()) != 1 || len(pairs.Bundles()) != 3 || len(all.All()) != 5 || len(pairs.All()) != 5 {
			t.Errorf("%d sets in %d bundles and %d in %d, want 5 in one and in three", len(all.All()), len(all.Bundles()), len(pairs.All()), len(pairs.Bundles()))
		}
		select {
		case <-barrier.Passed():
		default:
			t.Error("the barrier among the sets has not passed")
		}
		s.Lane().TryPut([]*graph.ResultSet{{Record: note("later")}})
		synctest.Wait()
		if len(all.Bundles()) != 2 || len(all.Bundles()[0].Sets) != 5 {
			t.Errorf("%d bundles, the first of %d sets, want what was sent to grow no more", len(all.Bundles()), len(all.Bundles()[0].Sets))
		}
	})
}

// correlationsAndRecords is a form of its own that takes records, too.
type correlationsAndRecords struct{ step.Pretty }

func TestLinesBeforeABarrierAreHeldBySinksThatHaveTheirBundle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, one, two, drops, _, _ := spawn(t)
		epoch := graph.NewEpoch(graph.NewOpen())
		receipt := graph.NewReceipt(3, func() {})
		barrier := graph.NewBarrier(1)
		line := func(i int, e *graph.Epoch) *graph.ResultSet {
			return &graph.ResultSet{Token: receipt.Token(i).In(e), Results: []graph.Result{detection("A")}}
		}
		before, cut := []*graph.ResultSet{line(0, epoch), line(1, epoch)}, &graph.ResultSet{Barrier: barrier}
		next := barrier.Enter(epoch)
		s.Lane().TryPut(append(before, cut, line(2, next)))
		synctest.Wait()
		if len(one.Bundles()) != 1 {
			t.Fatalf("%d bundles, want one that the barrier lies within", len(one.Bundles()))
		}
		for i, end := range []func(){
			func() { one.settle() }, func() { two.Bundles()[0].Ended(0, 2) }, func() { drops.Bundles()[0].Ended(0, 1) }, func() { drops.Bundles()[0].Ended(1, 2) },
		} {
			select {
			case <-barrier.Released():
				t.Errorf("released after %d of 4 steps", i)
			default:
			}
			end()
		}
		select {
		case <-barrier.Released():
		default:
			t.Error("not released when every sink has ended the lines before it")
		}
		if receipt.Open() != 1 {
			t.Errorf("%d lines are open, want the one behind the barrier", receipt.Open())
		}
	})
}

func TestASinkThatDropsTakesWhatFitsOfABundle(t *testing.T) {
	for _, tc := range []struct {
		name      string
		available int
		sets      []int // pieces of each
		taken     string
		dropped   int
	}{
		{"all of it", 4, []int{1, 1, 1, 1}, "0 1 2 3", 0},
		{"the leading part", 3, []int{1, 1, 1, 1}, "0 1 2", 1},
		{"nothing", 0, []int{1, 1}, "", 2},
		{"a set that was dropped in its second piece is counted once", 2, []int{1, 4}, "0 1", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			to, dropped := newQueue(), 0
			to.SetAvailable(tc.available)
			d := &dropping{to: to, dropped: func() { dropped++ }}
			var sets []graph.Rendered
			for id, pieces := range tc.sets {
				for piece := range pieces {
					messages := []graph.Message{{Envelope: &graph.Envelope{ID: graph.DeliveryID{byte(id + 1)}}, Body: []byte(strconv.Itoa(id))}}
					sets = append(sets, graph.Rendered{Messages: messages, First: piece, Bytes: 1})
				}
			}
			receipt := graph.NewReceipt(len(sets), func() {})
			for i := range sets {
				sets[i].Token = receipt.Token(i)
			}
			spent := 0
			memory := graph.NewBuffer(nil, func(*graph.Buffer) { spent++ })
			b := new(graph.Bundle)
			b.Begin(1, memory)
			b.Extend(sets, nil, nil)
			if n := d.TryPut([]*graph.Bundle{b}); n != 1 {
				t.Errorf("%d bundles taken, want the one", n)
			}
			var taken []string
			for _, set := range to.All() {
				taken = append(taken, string(set.Messages[0].Body))
			}
			if got := strings.Join(taken, " "); got != tc.taken || dropped != tc.dropped {
				t.Errorf("sets %q taken and %d dropped, want %q and %d", got, dropped, tc.taken, tc.dropped)
			}
			if got, want := receipt.Open(), len(taken); got != want {
				t.Errorf("%d lines are open, want those that were taken: %d", got, want)
			}
			to.settle()
			if receipt.Open() != 0 || receipt.Overdrawn() != 0 || spent != 1 {
				t.Errorf("%d lines are open, %d settled too often, and the memory ended %d times; want none, none and once", receipt.Open(), receipt.Overdrawn(), spent)
			}
		})
	}
}
