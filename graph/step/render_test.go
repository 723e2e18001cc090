package step

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/ocsf"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/result"
)

// note is a record.
type note string

func (n note) AppendNative(dst []byte) []byte { return append(dst, n...) }
func (n note) Kind() graph.Kind               { return "incident" }

func detection(title string) graph.Result {
	var b result.Batch
	return graph.Result{Detection: b.Add(result.NewRule(0, &ast.Rule{Meta: ast.Meta{Title: title}}))}
}

func detections(titles ...string) (all []graph.Result) {
	for _, title := range titles {
		all = append(all, detection(title))
	}
	return all
}

// titled takes results whose title begins with its prefix and writes the title. It
// cannot write what ends in a question mark.
type titled struct{ prefix string }

func (f titled) Accepts(p graph.Payload) bool {
	return p.Result != nil && strings.HasPrefix(p.Result.Detection.Rule.Title, f.prefix)
}

func (titled) Native() bool { return false }

func (titled) Append(dst []byte, p graph.Payload, m *graph.Message) ([]byte, error) {
	title := p.Result.Detection.Rule.Title
	m.Address("to."+title, graph.Header{Name: "Title", Value: title})
	if strings.HasSuffix(title, "?") {
		return append(dst, "half"...), errors.New("no title")
	}
	return append(dst, title...), nil
}

func text(r *graph.Bundle) string {
	var b strings.Builder
	for i := range r.Messages {
		b.Write(r.Messages[i].Body)
		b.WriteByte('\n')
	}
	return b.String()
}

// Set renders a set that is not long, as one that comes alone.
func (r *Render) Set(set *graph.ResultSet, id graph.DeliveryID, now time.Time) []*graph.Bundle {
	r.Close()
	r.Piece(set, 0, id, now)
	return r.added(set.Token)
}

// added adds the piece in hand and returns the bundles that began with it.
func (r *Render) added(token graph.Token) (bundles []*graph.Bundle) {
	r.Add(token)
	for i := range r.Sinks() {
		bundles = append(bundles, r.Begun(i))
	}
	return bundles
}

func TestSinksOfEqualFormsShareMessages(t *testing.T) {
	r := NewRender([]graph.Form{Native{}, titled{"a"}, Native{}, titled{"b"}, titled{"a"}})
	id := graph.DeliveryID{1}
	now := time.Unix(1, 0)
	got := r.Set(&graph.ResultSet{Results: detections("a1", "c", "a2"), Held: 1000}, id, now)
	if got[0] == nil || got[0] != got[2] || got[1] != got[4] || got[3] != nil {
		t.Fatalf("rendered %v, want one for the native sinks, one for those of a, none for b", got)
	}
	a := got[1]
	if text(a) != "a1\na2\n" || a.Messages[0].Index != 0 || a.Messages[1].Index != 2 {
		t.Errorf("messages %+v, want a1 as number 0 and a2 as number 2", a.Messages)
	}
	for _, m := range append(a.Messages, got[0].Messages...) {
		if m.ID != id || !m.Time.Equal(now) || m.Kind != graph.KindDetection || m.Err() != nil {
			t.Errorf("message %+v, want a detection of delivery %s at %s", m, id, now)
		}
	}
	if m := a.Messages[1]; m.Subject() != "to.a2" || len(m.Headers()) != 1 || m.Headers()[0].Value != "a2" {
		t.Errorf("subject %q, headers %v, want those of a2", m.Subject(), m.Headers())
	}
	if want := len("a1.to.a1Titlea1a2.to.a2Titlea2") + 2*messageBytes + 1000; a.Bytes != want {
		t.Errorf("%d bytes, want %d: messages, bodies, subjects, headers, and the results for dead letters", a.Bytes, want)
	}
	if want := len(text(got[0])) + 3*messageBytes; got[0].Bytes != want || got[0].Sets[0].Results != nil {
		t.Errorf("%d bytes and %d results, want %d and none: the bodies are native", got[0].Bytes, len(got[0].Sets[0].Results), want)
	}
}

// addressed is a record with a subject of its own.
type addressed struct {
	note
	subject string
}

func (a addressed) NATSSubject() string { return a.subject }

func TestARecordMayHaveASubjectOfItsOwnInEveryForm(t *testing.T) {
	for _, tc := range []struct {
		name   string
		record graph.Record
		want   string
	}{
		{"a subject", addressed{"{}", "soc.incidents"}, "soc.incidents"},
		{"none is set", addressed{"{}", ""}, ""},
		{"a record of another kind", note("{}"), ""},
	} {
		for _, form := range []graph.Form{Native{}, Pretty{}, ocsf.New("1")} {
			r := NewRender([]graph.Form{form})
			b := r.Set(&graph.ResultSet{Record: tc.record}, graph.DeliveryID{}, time.Time{})[0]
			if got := b.Messages[0].Subject(); got != tc.want {
				t.Errorf("%s in the form %T: subject %q, want %q", tc.name, form, got, tc.want)
			}
		}
	}
}

func TestAResultThatCannotBeRenderedCostsNothingElse(t *testing.T) {
	r := NewRender([]graph.Form{titled{}, Native{}})
	set := &graph.ResultSet{Results: detections("a", "b?", "c")}
	got := r.Set(set, graph.DeliveryID{}, time.Time{})
	m := got[0].Messages
	if len(m) != 3 || string(m[0].Body) != "a" || string(m[2].Body) != "c" {
		t.Fatalf("messages %+v, want a and c around the other", m)
	}
	if m[1].Err() == nil || m[1].Body != nil || m[1].Subject() != "" || m[1].Index != 1 || m[1].Kind != graph.KindDetection {
		t.Errorf("the message is %+v, want an error and nothing of what was begun", m[1])
	}
	if len(got[1].Messages) != 3 || got[1].Messages[1].Err() != nil {
		t.Errorf("native messages %+v, want all three", got[1].Messages)
	}
	native := func(i int) string { return string(set.Results[i].AppendNative(nil)) }
	for i, rendered := range got {
		if letter, want := string(rendered.Sets[0].AppendOriginal(nil, 1, 3)), "["+native(1)+","+native(2)+"]"; letter != want {
			t.Errorf("form %d: a dead letter shows %s, want %s", i, letter, want)
		}
	}
}

func TestAFormThatPanicsLeavesNothingBehind(t *testing.T) {
	r := NewRender([]graph.Form{Native{}, titled{}})
	first := r.Set(&graph.ResultSet{Results: detections("a")}, graph.DeliveryID{}, time.Time{})[1]
	func() {
		defer func() {
			if recover() == nil {
				t.Error("an empty result was rendered")
			}
			r.Undo()
		}()
		r.Set(&graph.ResultSet{Results: []graph.Result{detection("lost"), {}}}, graph.DeliveryID{}, time.Time{})
	}()
	got := r.Set(&graph.ResultSet{Results: detections("b")}, graph.DeliveryID{}, time.Time{})[1]
	if text(first) != "a\n" || text(got) != "b\n" {
		t.Errorf("messages %q and %q, want a and b", text(first), text(got))
	}
}

func TestPrettyIndentsResultsAndLeavesRecords(t *testing.T) {
	var batch result.Batch
	d := batch.Add(result.NewRule(0, &ast.Rule{Meta: ast.Meta{Title: "<"}}))
	d.Fields = batch.FieldList([]result.Field{{Name: "n", Value: []byte("1.0")}})
	for _, tc := range []struct {
		name string
		set  graph.ResultSet
		want string
	}{
		{
			"a result",
			graph.ResultSet{Results: []graph.Result{{Detection: d}}},
			"{\n  \"rule_title\": \"<\",\n  \"rule_id\": null,\n  \"level\": null,\n  \"tags\": [],\n  \"matched_selections\": [],\n" +
				"  \"matched_fields\": [\n    {\n      \"field\": \"n\",\n      \"value\": 1.0\n    }\n  ]\n}\n",
		},
		{"a record", graph.ResultSet{Record: note(`{"incident_id":"i"}`)}, `{"incident_id":"i"}` + "\n"},
	} {
		got := NewRender([]graph.Form{Pretty{}}).Set(&tc.set, graph.DeliveryID{}, time.Time{})[0]
		if text(got) != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, text(got), tc.want)
		}
		original := got.Sets[0].AppendOriginal(nil, 0, 1)
		if strings.Contains(string(original), "\n") {
			t.Errorf("%s: a dead letter shows %q, want the compact line", tc.name, original)
		}
	}
}

func TestMessagesStayAsTheyWere(t *testing.T) {
	r := NewRender([]graph.Form{Native{}})
	var all []*graph.Bundle
	var want []string
	for i := range 3000 {
		set, line := &graph.ResultSet{}, strings.Builder{}
		for j := range 1 + i%3 {
			res := detection(fmt.Sprintf("%d-%d-%s", i, j, strings.Repeat("x", (i*37)%2000*(i%11/10))))
			set.Results = append(set.Results, res)
			line.Write(append(res.AppendNative(nil), '\n'))
		}
		if i%100 == 0 {
			set.Record, set.Results = note(strings.Repeat("r", i*10)), nil
			line.Reset()
			line.WriteString(strings.Repeat("r", i*10) + "\n")
		}
		all = append(all, r.Set(set, graph.DeliveryID{}, time.Time{})[0])
		want = append(want, line.String())
	}
	for i, rendered := range all {
		if got := text(rendered); got != want[i] {
			t.Fatalf("set %d is %.80q, want %.80q", i, got, want[i])
		}
	}
}

// What a sink still needs is not written over, however many others are through.
func TestABufferIsUsedAgainWhenAllOfItHasEnded(t *testing.T) {
	r := NewRender([]graph.Form{Native{}, Native{}})
	render := func(text string) *graph.Bundle {
		return r.Set(&graph.ResultSet{Record: note(text)}, graph.DeliveryID{}, time.Time{})[0]
	}
	kept := render("kept")
	for i := range 100 * renderSets {
		rendered := render(strconv.Itoa(i))
		rendered.Release()
		if i%2 == 0 {
			rendered.Release()
			continue
		}
		if got := text(rendered); got != strconv.Itoa(i)+"\n" {
			t.Fatalf("set %d is %q after one of two sinks is through with it", i, got)
		}
		rendered.Release()
	}
	if got := text(kept); got != "kept\n" {
		t.Errorf("the set nobody ended is %q, want %q", got, "kept\n")
	}
}

func TestRenderingAllocatesNothing(t *testing.T) {
	for _, tc := range []struct {
		name  string
		forms []graph.Form
	}{
		{"one native sink", []graph.Form{Native{}}},
		{"sinks of two forms", []graph.Form{Native{}, brief{}, Native{}}},
		{"many sinks that take nothing", append([]graph.Form{Native{}}, decliners(300)...)},
	} {
		r := NewRender(tc.forms)
		set := &graph.ResultSet{Results: detections("a title of a rule", "another")}
		perSet := testing.AllocsPerRun(100*renderSets, func() {
			r.Close()
			r.Piece(set, 0, graph.DeliveryID{}, time.Time{})
			r.Add(graph.Token{})
			for i := range tc.forms {
				if bundle := r.Begun(i); bundle != nil {
					bundle.Ended(0, 1)
					bundle.Release()
				}
			}
		})
		if perSet > 0.5 { // a collection may empty the pool
			t.Errorf("%s: %.2f allocations for a set, want none", tc.name, perSet)
		}
	}
}

// decliner takes nothing. Each is a form of its own.
type decliner struct {
	Pretty
	number int
}

func (*decliner) Accepts(graph.Payload) bool { return false }

func decliners(n int) (forms []graph.Form) {
	for i := range n {
		forms = append(forms, &decliner{number: i})
	}
	return forms
}

// brief writes titles only.
type brief struct{ Pretty }

func (brief) Append(dst []byte, p graph.Payload, _ *graph.Message) ([]byte, error) {
	return append(dst, p.Result.Detection.Rule.Title...), nil
}

func BenchmarkRender(b *testing.B) {
	r := NewRender([]graph.Form{Native{}})
	set := &graph.ResultSet{Results: detections("a title of a rule", "another")}
	b.ReportAllocs()
	for b.Loop() {
		r.Set(set, graph.DeliveryID{}, time.Time{})[0].Release()
	}
}
