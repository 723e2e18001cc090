package inputs_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/inputs"
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/internal/suggest"
	"github.com/sluicehq/sluice/sources"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// kinds are two that only tests have.
func kinds() []inputs.Kind {
	open := func(inputs.Environment, inputs.Spec) (inputs.Opened, error) { return inputs.Opened{}, nil }
	return []inputs.Kind{
		{Name: "test", Schemes: []string{"test", "test+tls"}, Usage: "test://target", Parameters: []string{"size", "start"}, Format: "syslog", Open: open, Check: func(s inputs.Spec) error {
			if s.Options["size"] == "0" {
				return errors.New("size must be at least 1")
			}
			return nil
		}},
		{Name: "gone", Schemes: []string{"gone"}, Usage: "gone://target", LeftOutBy: "nogone"},
	}
}

// here are the inputs that a build has, as messages list them, with those of tests.
func here() string {
	var names []string
	for _, k := range append(inputs.Kinds(), kinds()...) {
		if k.Open != nil {
			names = append(names, k.Usage)
		}
	}
	return "(" + strings.Join(names, ", ") + ")"
}

func TestSpecsOfInputs(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"standard input", "stdin", "stdin"},
		{"standard input as a URL", "stdin://", "stdin"},
		{"requests", "http", "http"},
		{"a target", "test://a/b", "test a/b"},
		{"another scheme of the kind", "test+tls://a", "test a"},
		{"a format of its own", "stdin?format=json", "stdin format json"},
		{"parameters of the kind", "test://a?size=3&format=cef", "test a format cef size 3"},
		{"a target where none belongs", "http://x", "input 'http://x': http takes no target, write http"},
		{"a slip", "stdim", `"stdim" is no input ` + here() + `; did you mean 'stdin'?`},
		{"nothing", "", `"" is no input ` + here()},
		{"a kind without its target", "test", "input 'test' has no target, write test://target"},
		{"a kind that was left out", "gone://a", `"gone://a" is left out of this build, which was made with the tag nogone ` + here()},
		{"a parameter that the kind does not have", "stdin?size=3", "input 'stdin?size=3': unknown parameter 'size', not one of format"},
		{"a parameter with a slip", "test://a?siz=3", "input 'test://a?siz=3': unknown parameter 'siz', not one of format, size, start; did you mean 'size'?"},
		{"a parameter twice", "test://a?size=3&size=4", "input 'test://a?size=3&size=4': size= may be specified only once"},
		{"a format that there is not", "stdin?format=xml", `input 'stdin?format=xml': unknown input format "xml" (auto, json, syslog, plain, logfmt, cef)`},
		{"parameters that the kind refuses", "test://a?size=0", "input 'test://a?size=0': size must be at least 1"},
		{"a secret", "test://u:hidden@a?size=0", "size must be at least 1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got string
			specs := inputs.Parse([]string{tc.text}, kinds(), func(_ int, err error) {
				got = err.Error()
				var near *suggest.Error
				if errors.As(err, &near) && near.Suggestion != "" {
					got += "; " + near.Suggestion
				}
			})
			for _, s := range specs {
				got = strings.TrimSpace(s.Kind.Name + " " + s.Target)
				if s.Format != "" {
					got += " format " + s.Format
				}
				for k, v := range s.Options {
					got += " " + k + " " + v
				}
			}
			if got != tc.want && (tc.name != "a secret" || !strings.HasSuffix(got, tc.want) || strings.Contains(got, "hidden")) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// Log records need no input, and whoever names one is told so.
func TestOTLPIsNoInput(t *testing.T) {
	for _, text := range []string{"otlp", "otlp://0.0.0.0:4317", "otlphttp://:4318?format=json"} {
		var got string
		inputs.Parse([]string{text}, nil, func(_ int, err error) { got = err.Error() })
		if !strings.HasPrefix(got, fmt.Sprintf("%q is no input", text)) || !strings.Contains(got, "OTLP") || !strings.Contains(got, "--input http ") && !strings.Contains(got, "no_otlp") {
			t.Errorf("got %q, want what to do in its place", got)
		}
	}
}

func TestSeveralInputs(t *testing.T) {
	var faults []string
	specs := inputs.Parse([]string{"stdin", "test://a", "nonsense", "test://b?format=plain", "test://a?size=2"}, kinds(), func(number int, err error) {
		faults = append(faults, fmt.Sprint(number, " ", err))
	})
	if want := `2 "nonsense" is no input ` + here() + `|4 input 'test://a?size=2' is named twice`; strings.Join(faults, "|") != want {
		t.Errorf("got %q, want %q", faults, want)
	}
	cfg := &config.Default().Daemon
	cfg.Input.Format = "logfmt"
	all, err := inputs.ParseInputs(specs, cfg)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	if last := all[len(specs)]; len(all) != len(specs)+1 || last.Source != inputs.Logs || last.Decoder.Format != format.JSON {
		t.Errorf("%d inputs, the last is %v, want that of log records behind %d", len(all), last, len(specs))
	}
	for i, in := range all[:len(specs)] {
		got = append(got, fmt.Sprint(specs[i].Number, " ", in.Source, " ", in.Decoder.Format, " ", in.Own))
	}
	if want := "0 stdin logfmt false|1 test://a syslog true|3 test://b?format=plain plain true"; strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	many := make([]string, inputs.MaxInputs+1)
	for i := range many {
		many[i] = fmt.Sprint("test://", i)
	}
	faults = nil
	if n := len(inputs.Parse(many, kinds(), func(_ int, err error) { faults = append(faults, err.Error()) })); n != inputs.MaxInputs || len(faults) != 1 || faults[0] != "a daemon has at most 64 inputs" {
		t.Errorf("%d inputs, faults %q, want %d and one fault", n, faults, inputs.MaxInputs)
	}
}

// redelivering is an input that can be closed.
type redelivering struct {
	sources.Source
	closed *[]string
	name   string
}

func (r redelivering) Positions() sources.Positions { return nil }

func (r redelivering) Close(context.Context) error {
	*r.closed = append(*r.closed, r.name)
	return errors.New("out of paper")
}

func TestAnInputThatCannotBeOpenedClosesThoseBeforeIt(t *testing.T) {
	var closed []string
	more := []inputs.Kind{
		{Name: "good", Schemes: []string{"good"}, Open: func(inputs.Environment, inputs.Spec) (inputs.Opened, error) {
			return inputs.Opened{Source: redelivering{closed: &closed, name: "good"}}, nil
		}},
		{Name: "broken", Schemes: []string{"broken"}, Open: func(inputs.Environment, inputs.Spec) (inputs.Opened, error) {
			return inputs.Opened{}, errors.New("no such device")
		}},
	}
	specs := inputs.Parse([]string{"good://", "broken://"}, more, func(_ int, err error) { t.Error(err) })
	_, err := inputs.Open(specs, inputs.Environment{})
	if err == nil || err.Error() != "--input broken://: no such device\nclose input good://: out of paper" || len(closed) != 1 {
		t.Errorf("got %v and %q closed, want both faults", err, closed)
	}
}

// stubborn is an input that does not close.
type stubborn struct {
	sources.Source
	until chan struct{}
}

func (s stubborn) Positions() sources.Positions { return nil }

func (s stubborn) Close(context.Context) error { <-s.until; return nil }

// slow closes a while behind the end of its time.
type slow struct {
	stubborn
	behind time.Duration
}

func (s slow) Close(ctx context.Context) error {
	<-ctx.Done()
	time.Sleep(s.behind)
	return nil
}

func TestAnInputThatClosesAMomentBehindItsTimeIsNotLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		more := []inputs.Kind{{Name: "slow", Schemes: []string{"slow"}, Open: func(inputs.Environment, inputs.Spec) (inputs.Opened, error) {
			return inputs.Opened{Source: slow{behind: 99 * time.Millisecond}}, nil
		}}}
		set, err := inputs.Open(inputs.Parse([]string{"slow://"}, more, func(_ int, err error) { t.Error(err) }), inputs.Environment{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := set.Close(ctx); err != nil {
			t.Errorf("got %v, want no fault", err)
		}
	})
}

func TestAnInputThatDoesNotCloseHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		until := make(chan struct{})
		more := []inputs.Kind{{Name: "stubborn", Schemes: []string{"stubborn"}, Open: func(inputs.Environment, inputs.Spec) (inputs.Opened, error) {
			return inputs.Opened{Source: stubborn{until: until}}, nil
		}}}
		set, err := inputs.Open(inputs.Parse([]string{"stubborn://"}, more, func(_ int, err error) { t.Error(err) }), inputs.Environment{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		if err := set.Close(ctx); err == nil || err.Error() != "an input did not close in time" || time.Since(begun) != 1100*time.Millisecond {
			t.Errorf("got %v behind %s, want the fault a moment behind the second", err, time.Since(begun))
		}
		close(until)
	})
}

func TestTheHelpOfInputNamesTheKinds(t *testing.T) {
	for _, s := range config.Settings("daemon") {
		if s.Flag != "input" {
			continue
		}
		for _, k := range inputs.Kinds() {
			if k.LeftOutBy == "" && !strings.Contains(s.Help, k.Usage) {
				t.Errorf("%q does not name %s", s.Help, k.Usage)
			}
			if k.Usage == "" || (k.Open == nil) != (k.LeftOutBy != "") {
				t.Errorf("%s: usage %q, left out by %q, can be opened: %t", k.Name, k.Usage, k.LeftOutBy, k.Open != nil)
			}
		}
		return
	}
	t.Error("no flag --input")
}
