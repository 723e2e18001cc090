package template

import (
	"errors"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/suggest"
	"github.com/sluicehq/sluice/sigma/event"
)

// text is what the references of these tests are about: one text.
type text string

// whole is the value of ${v.text}: the text.
type whole struct{}

func (whole) AppendText(dst []byte, of text) []byte { return append(dst, of...) }
func (whole) AppendJSON(dst []byte, of text) []byte { return event.AppendQuoted(dst, string(of)) }

// missing is the value of ${v.none}.
type missing struct{}

func (missing) AppendText(dst []byte, _ text) []byte { return dst }
func (missing) AppendJSON(dst []byte, _ text) []byte { return append(dst, "null"...) }

var errRoom = errors.New("only environment variables can stand here")

func rules(env map[string]string) Rules[text] {
	return Rules[text]{
		Kind: "detection", User: "webhook",
		Getenv: func(name string) string { return env[name] },
		Lookup: func(reference string) (Value[text], error) {
			switch reference {
			case "v.text":
				return whole{}, nil
			case "v.none":
				return missing{}, nil
			case "v.room":
				return nil, errRoom
			case "v.txet":
				return nil, suggest.Wrap(ErrUnknown, reference, []string{"v.text"})
			}
			switch {
			case strings.HasPrefix(reference, "v."):
				return nil, ErrUnknown
			case strings.HasPrefix(reference, "w."):
				return nil, ErrWrongNamespace
			}
			return nil, ErrMalformed
		},
	}
}

func parse(t *testing.T, source string, env map[string]string) *Template[text] {
	t.Helper()
	parsed, err := Parse(source, "body", rules(env))
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	return parsed
}

func TestGrammar(t *testing.T) {
	env := map[string]string{"ZONE": "eu", "${ZONE": "odd", "a b": "blank", " v": "space", "v": "env", "line\nbreak": "nl", "L": "${ZONE}"}
	for _, tc := range []struct{ name, source, want string }{
		{"text without references stands as it is", "plain $ text { } $ {x} \\${", "plain $ text { } $ {x} \\${"},
		{"nothing renders as nothing", "", ""},
		{"braces without a name, a name without braces and an unset variable", "a${}b$ZONE-${ZONE}-${UNSET_X}", "a${}b$ZONE-eu-"},
		{"an unclosed reference is text", "x${ZONE", "x${ZONE"},
		{"an unclosed reference behind a closed one is text", "${ZONE}${ZONE", "eu${ZONE"},
		{"a reference does not nest: the first brace closes it", "${${ZONE}}", "odd}"},
		{"behind empty braces a reference is one", "${}${ZONE}", "${}eu"},
		{"a dollar in front of a reference stays", "$${ZONE}$", "$eu$"},
		{"blanks within the braces are part of the name", "${a b}/${ v}", "blank/space"},
		{"the name of a namespace alone is a variable", "${v}", "env"},
		{"a name goes over lines", "${line\nbreak}", "nl"},
		{"what was put in is not read again", "${L}${v.text}", "${ZONE}${v.none}"},
		{"what is missing is nothing", "<${v.none}>", "<>"},
	} {
		if got := string(parse(t, tc.source, env).Append(nil, Plain, "${v.none}")); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestFaultsOfReferences(t *testing.T) {
	for _, tc := range []struct{ name, source, field, want string }{
		{
			"a dotted name outside the namespaces", "x ${vault.token}", "url",
			"malformed template reference '${vault.token}' in field 'url'",
		},
		{
			"a blank in front of the namespace", "${ v.text}", "url",
			"malformed template reference '${ v.text}' in field 'url'",
		},
		{
			"the other namespace", "${w.title}", "headers.X-Title",
			"template reference '${w.title}' in field 'headers.X-Title' is the wrong namespace for a detection webhook",
		},
		{
			"a name that the namespace does not have", "${v.txet}", "body",
			"unknown template reference '${v.txet}' in field 'body'",
		},
		{
			"a fault that only this user has", "${v.room}", "command[0]",
			"template reference '${v.room}' in field 'command[0]': only environment variables can stand here",
		},
		{
			"every fault is told, in order", "${a.b} ${ENV} ${w.x} ${v.text} ${v.y}", "body",
			"malformed template reference '${a.b}' in field 'body'\n" +
				"template reference '${w.x}' in field 'body' is the wrong namespace for a detection webhook\n" +
				"unknown template reference '${v.y}' in field 'body'",
		},
	} {
		parsed, err := Parse(tc.source, tc.field, rules(nil))
		if err == nil || err.Error() != tc.want || parsed != nil {
			t.Errorf("%s: got %v, %v, want %s", tc.name, parsed, err, tc.want)
		}
		var fault *ReferenceError
		if !errors.As(err, &fault) || fault.Field != tc.field {
			t.Errorf("%s: the error is no ReferenceError of the field: %#v", tc.name, err)
		}
	}
	_, err := Parse("${v.txet}", "body", rules(nil))
	var meant *suggest.Error
	if !errors.As(err, &meant) || meant.Suggestion != "did you mean 'v.text'?" {
		t.Errorf("what was probably meant: got %#v", err)
	}
	if _, err := Parse("${v.text}", "body", Rules[text]{}); !errors.Is(err, ErrUnknown) {
		t.Errorf("rules without a lookup: got %v", err)
	}
}

func TestEnvironmentIsReadWhenATemplateIsRendered(t *testing.T) {
	t.Setenv("SLUICE_TEMPLATE_TEST", "one")
	parsed, err := Parse("${SLUICE_TEMPLATE_TEST}", "url", Rules[text]{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"one", "two"} {
		t.Setenv("SLUICE_TEMPLATE_TEST", want)
		if got := string(parsed.Append(nil, URL, "")); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestLiteral(t *testing.T) {
	for _, tc := range []struct {
		source, want string
		is           bool
	}{
		{"", "", true},
		{"application/json", "application/json", true},
		{"a${}${", "a${}${", true},
		{"${X}", "", false},
		{"a${v.text}b", "", false},
	} {
		if got, is := parse(t, tc.source, nil).Literal(); got != tc.want || is != tc.is {
			t.Errorf("%q: got %q, %v, want %q, %v", tc.source, got, is, tc.want, tc.is)
		}
	}
}

func TestRenderingAllocatesNothing(t *testing.T) {
	hostile := text(strings.Repeat("a\"\\\n\x01é\xff/?#'", 50))
	dst := make([]byte, 0, 1<<20)
	parsed := parse(t, `{"a":"x${v.text}y","b":${v.text},"c":"${E}","d":${E},"e":${v.none}}`, map[string]string{"E": string(hostile)})
	for _, place := range []Place{Plain, URL, Header, JSON, Expression} {
		if n := testing.AllocsPerRun(100, func() { dst = parsed.Append(dst[:0], place, hostile) }); n != 0 {
			t.Errorf("%v: %v allocations per rendering", place, n)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	parsed, err := Parse(`{"text":"*${v.text}* on ${v.text} [${v.none}]","raw":${v.text}}`, "body", rules(nil))
	if err != nil {
		b.Fatal(err)
	}
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst = parsed.Append(dst[:0], JSON, `Encoded "PowerShell" command line`)
	}
}
