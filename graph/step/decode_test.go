package step_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/sigma/engine"
)

// newBatch is a batch with lines; those that begin with '=' are structured.
func newBatch(set *graph.RuleSet, lines ...string) *graph.Batch {
	b := &graph.Batch{Set: set, Events: new(engine.Events), Arrival: 77}
	for _, text := range lines {
		raw, structured := strings.CutPrefix(text, "=")
		b.Lines = append(b.Lines, graph.Line{Raw: []byte(raw), Structured: structured})
	}
	return b
}

// outcomes describes what became of each line: its kind and how many events it has.
func outcomes(b *graph.Batch) string {
	names := map[graph.OutcomeKind]string{
		graph.Decoded: "decoded", graph.Filtered: "filtered", graph.Undecodable: "undecodable", graph.Quarantined: "quarantined",
	}
	var out []string
	for _, o := range b.Outcomes {
		text := names[o.Kind]
		for e := o.Events.From; e < o.Events.To; e++ {
			text += " " + b.Events.Kind(int(e)).String()
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

func TestLinesHaveTheFormatOfTheirInput(t *testing.T) {
	d, b := step.NewDecode(&format.Decoder{Format: format.Plain}, &format.Decoder{Format: format.JSON}, &format.Decoder{Format: format.Logfmt}), newBatch(ruleSet(t, whoami), `{"a":1}`, `{"a":1}`, `a=1`, `a=1`)
	for i, input := range []uint8{0, 1, 2, 1} {
		b.Lines[i].Input = input
	}
	d.Batch(new(step.Sequential), b)
	if got, want := outcomes(b), "decoded plain, decoded json, decoded pairs, undecodable"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestWhatBecomesOfLinesInDecoding(t *testing.T) {
	for _, tc := range []struct {
		name  string
		f     *format.Decoder
		lines []string
		want  string
		out   string // undecodable lines and poisoned ones
	}{
		{"each has its event", &format.Decoder{}, []string{`{"a":1}`, `text`}, "decoded json, decoded plain", "0 []"},
		{"some are not what the format demands", &format.Decoder{Format: format.JSON}, []string{`{"a":1}`, `text`, `{`}, "decoded json, undecodable, undecodable", "2 []"},
		{"structured ones are JSON whatever the format", &format.Decoder{Format: format.Plain}, []string{`={}`, `{}`, `=text`}, "decoded json, decoded plain, undecodable", "1 []"},
		{"those that panic the decoder are taken out", nil, []string{`={}`, `{}`, `={}`}, "decoded json, quarantined, decoded json", "0 [1]"},
		{"there are none", &format.Decoder{}, nil, "", "0 []"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, b := step.NewDecode(tc.f), newBatch(ruleSet(t, whoami), tc.lines...)
			for range 2 { // again, as after a restart
				o := d.Batch(new(step.Sequential), b)
				lines := []int{}
				for _, p := range o.Poisoned {
					lines = append(lines, p.Line)
				}
				if got := outcomes(b); got != tc.want {
					t.Errorf("got %s, want %s", got, tc.want)
				}
				if got := fmt.Sprint(o.Undecodable, lines); got != tc.out {
					t.Errorf("outcome %s, want %s", got, tc.out)
				}
			}
		})
	}
}

func TestABatchIsDecodedForItsRuleSet(t *testing.T) {
	d, g := step.NewDecode(&format.Decoder{}), new(step.Sequential)
	detect := step.NewDetect(false)
	for _, rules := range []string{whoami, strings.ReplaceAll(whoami, "CommandLine", "Image")} {
		b := newBatch(ruleSet(t, rules), `{"CommandLine":"whoami"}`, `{"Image":"whoami"}`)
		d.Batch(g, b)
		detect.Batch(g, b)
		if b.Results.Len() != 1 {
			t.Errorf("%d results, want one by either rule set", b.Results.Len())
		}
	}
}
