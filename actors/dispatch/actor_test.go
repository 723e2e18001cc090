package dispatch

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/actorstest"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/sigma"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/result"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// note is a record.
type note string

func (n note) AppendNative(dst []byte) []byte { return append(dst, n...) }
func (n note) Kind() string                   { return "incident" }

func detection(title string) graph.Result {
	var b result.Batch
	return graph.Result{Detection: b.Add(result.NewRule(0, &sigma.Rule{Meta: sigma.Meta{Title: title}}))}
}

// spawn starts a stage with two sinks that block and one that drops.
func spawn(t *testing.T) (s *Stage, one, two, drops *actorstest.Recorder[*graph.Item], deadLetters *actorstest.Recorder[graph.DeadLetter], dropped *int) {
	t.Helper()
	one, two, drops = actorstest.NewRecorder[*graph.Item](), actorstest.NewRecorder[*graph.Item](), actorstest.NewRecorder[*graph.Item]()
	deadLetters, dropped = actorstest.NewRecorder[graph.DeadLetter](), new(int)
	s = New(Options{StageOptions: actors.StageOptions{Capacity: 100, DeadLetters: deadLetters}, Sinks: []Sink{
		{Label: "one", To: one}, {Label: "two", To: two}, {Label: "drops", To: drops, Dropped: func() { *dropped++ }},
	}})
	system := actorstest.System(t, actors.Options{})
	if _, err := system.Spawn(s.Cell(), s.Produce); err != nil {
		t.Fatal(err)
	}
	return s, one, two, drops, deadLetters, dropped
}

func TestAllSinksShareOneItem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, one, two, drops, _, _ := spawn(t)
		settled := 0
		token := graph.NewReceipt(1, func() { settled++ }).Token(0)
		s.Lane().TryPut([]*graph.ResultSet{{Token: token, Results: []graph.Result{detection("A"), detection("B")}}, {Record: note(`{"incident_id":"i"}`)}})
		synctest.Wait()
		items := one.All()
		if len(items) != 2 || two.All()[0] != items[0] || drops.All()[0] != items[0] {
			t.Fatalf("%d, %d and %d items arrived, want the same 2", len(items), len(two.All()), len(drops.All()))
		}
		if !regexp.MustCompile(`^msg_[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}$`).MatchString(items[0].ID.String()) || items[0].ID == items[1].ID {
			t.Errorf("ids %q and %q, want two random ones", items[0].ID, items[1].ID)
		}
		var text strings.Builder
		for _, line := range items[0].Lines {
			text.Write(line)
		}
		want := `{"rule_title":"A","rule_id":null,"level":null,"tags":[],"matched_selections":[],"matched_fields":[]}` + "\n"
		if got := text.String(); got != want+strings.Replace(want, `"A"`, `"B"`, 1) {
			t.Errorf("got %s, want the two native lines", got)
		}
		if got := string(items[1].Lines[0]); got != "{\"incident_id\":\"i\"}\n" || items[1].Record == nil {
			t.Errorf("the record came as %q", got)
		}
		for i := range 3 {
			if settled != 0 {
				t.Errorf("settled after %d of 3 sinks", i)
			}
			items[0].Token.Settle()
		}
		if settled != 1 {
			t.Errorf("settled %d times, want once", settled)
		}
	})
}

func TestAFullSinkHoldsTheNextListAndNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, one, two, drops, _, dropped := spawn(t)
		one.SetRoom(0)
		drops.SetRoom(1)
		lists := []*graph.ResultSet{{Record: note("1")}, {Record: note("2")}, {Record: note("3")}}
		s.Lane().TryPut(lists)
		synctest.Wait()
		if got := len(two.All()); got != 1 {
			t.Errorf("the idle sink has %d items, want 1: the next is not offered before all took the first", got)
		}
		one.SetRoom(-1)
		synctest.Wait()
		if len(one.All()) != 3 || len(two.All()) != 3 || len(drops.All()) != 1 || *dropped != 2 {
			t.Errorf("%d, %d and %d items, %d dropped, want 3, 3, 1 and 2", len(one.All()), len(two.All()), len(drops.All()), *dropped)
		}
	})
}

func TestListsLeaveTogetherUpToTheSinkWithTheLeastRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, one, two, drops, _, dropped := spawn(t)
		one.SetRoom(2)
		drops.SetRoom(1)
		var lists []*graph.ResultSet
		for i := range 10 {
			lists = append(lists, &graph.ResultSet{Record: note(strconv.Itoa(i))})
		}
		s.Lane().TryPut(lists)
		synctest.Wait()
		if len(one.All()) != 2 || len(two.All()) != 3 {
			t.Errorf("%d and %d items, want 2, and 3 at the idle sink: the fourth is not offered before all took the third", len(one.All()), len(two.All()))
		}
		one.SetRoom(-1)
		synctest.Wait()
		if len(one.All()) != 10 || len(two.All()) != 10 || len(drops.All()) != 1 || *dropped != 9 {
			t.Errorf("%d, %d and %d items, %d dropped, want 10, 10, 1 and 9", len(one.All()), len(two.All()), len(drops.All()), *dropped)
		}
		for i, item := range one.All() {
			if got := string(item.Lines[0]); got != strconv.Itoa(i)+"\n" {
				t.Errorf("item %d is %q, want the order of the lists", i, got)
			}
		}
	})
}

func TestAListThatCannotBeRenderedIsQuarantined(t *testing.T) {
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
			t.Errorf("%d items, want the next one", len(one.All()))
		}
	})
}
