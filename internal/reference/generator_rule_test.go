package reference_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

var words = []string{
	"foo", "bar", "a", "ab", "b", "s", "k", "ps.exe", "-enc", " -e x", "/c", `C:\Windows\`, `\cmd.exe`, "whoami", "task", "TASK", "Kelvin",
	"10.0.0.1", "4688", "1.50", "true", "no", "", "ΟΔΟΣ", "straße", "é", "xxfoobarxx", "\u2013enc", "%a%", "powershell.exe -nop -w hidden", "http://",
}

var names = []string{"A", "B", "C", "a.b", "a.b.c", "x.y", "n", "Ünï", "a b", "c", "EventID"}

// modifiers are sets that load accepts on strings; %s is none.
var modifiers = []string{
	"", "", "", "", "|contains", "|contains", "|startswith", "|endswith", "|cased", "|contains|cased", "|startswith|cased", "|neq", "|contains|neq",
	"|windash", "|contains|windash", "|endswith|windash|cased", "|base64", "|base64offset", "|base64offset|cased", "|wide|base64", "|utf16be|base64offset", "|utf16|base64offset", "|base64|contains",
}

// RandomRules writes a YAML file of n small rules that use every modifier,
// shape, condition form and array block. A few of them may not load.
func RandomRules(seed uint64, n int) string {
	w := &ruleWriter{rng: rand.New(rand.NewPCG(seed, 1))}
	var docs []string
	for i := range n {
		switch {
		case w.oneIn(6):
			docs = append(docs, w.filter(i))
		case w.oneIn(25):
			docs = append(docs, w.large(i))
		case w.oneIn(60):
			docs = append(docs, w.template(i)...)
		default:
			docs = append(docs, w.rule(i))
		}
	}
	return strings.Join(docs, "---\n")
}

type ruleWriter struct {
	rng *rand.Rand
	v3  bool
}

func (w *ruleWriter) oneIn(n int) bool { return w.rng.IntN(n) == 0 }

func (w *ruleWriter) rule(i int) string {
	w.v3 = w.oneIn(3)
	var b strings.Builder
	fmt.Fprintf(&b, "title: Rule %d\nid: r%d\n", i, i)
	if w.v3 {
		b.WriteString("sigma-version: 3\n")
	}
	if w.oneIn(2) {
		fmt.Fprintf(&b, "level: %s\ntags: [t.%d]\n", pick(w.rng, []string{"low", "high"}), i)
	}
	if w.oneIn(3) {
		fmt.Fprintf(&b, "logsource: {%s: %s}\n", pick(w.rng, []string{"product", "service", "category", "env"}), pick(w.rng, []string{"windows", "linux", "foo"}))
	}
	if w.oneIn(20) {
		b.WriteString("sluice.include_event: true\n")
	}
	b.WriteString("detection:\n")
	var named []string
	for j := range 1 + w.rng.IntN(4) {
		name := pick(w.rng, []string{"sel", "sel_", "f_", "_h", "x_y_"}) + strconv.Itoa(j)
		named = append(named, name)
		fmt.Fprintf(&b, "  %s: %s\n", name, w.detection())
	}
	if w.oneIn(6) {
		fmt.Fprintf(&b, "  condition: [%q, %q]\n", w.condition(named, 2), w.condition(named, 2))
	} else {
		fmt.Fprintf(&b, "  condition: %q\n", w.condition(named, 3))
	}
	return b.String()
}

// filter is a filter for all rules, or for those before it.
func (w *ruleWriter) filter(i int) string {
	w.v3 = w.oneIn(3)
	var b strings.Builder
	fmt.Fprintf(&b, "title: Filter %d\n", i)
	if w.v3 {
		b.WriteString("sigma-version: 3\n")
	}
	fmt.Fprintf(&b, "filter:\n  rules: %s\n  sel_f: %s\n  f_1: %s\n", pick(w.rng, []string{"any", fmt.Sprintf("[r%d]", i-1), fmt.Sprintf("[r0, 'Rule %d']", i+1)}), w.detection(), w.detection())
	fmt.Fprintf(&b, "  condition: %s\n", pick(w.rng, []string{"not sel_f", "not 1 of them", "sel_f or not f_1", "[not sel_f, f_1]"}))
	return b.String()
}

func (w *ruleWriter) condition(named []string, depth int) string {
	if depth == 0 || w.oneIn(4) {
		if w.oneIn(3) {
			return pick(w.rng, []string{"all of ", "1 of ", "any of ", "2 of "}) + pick(w.rng, []string{"them", "sel*", "f_*", "_*", "*_y_*", "zz*"})
		}
		return pick(w.rng, named)
	}
	a, b := w.condition(named, depth-1), w.condition(named, depth-1)
	switch w.rng.IntN(4) {
	case 0:
		return "(" + a + " or " + b + ")"
	case 1:
		return a + " and not (" + b + ")"
	case 2:
		return "not (" + a + ")"
	}
	return "(" + a + ") and (" + b + ")"
}

func (w *ruleWriter) detection() string {
	switch w.rng.IntN(8) {
	case 0:
		return w.keywords()
	case 1:
		return "{" + quoteYAML(pick(w.rng, []string{"|all", "|contains|all", "|cased|all"})) + ": [" + w.word() + ", " + w.word() + "]}"
	case 2:
		return "{" + quoteYAML(pick(w.rng, []string{"|re", "|re|i", "|cased", "|startswith", "|endswith|neq", "|windash"})) + ": " + w.plainWord() + "}"
	case 3:
		return "[" + w.mapping() + ", " + w.mapping() + "]"
	}
	return w.mapping()
}

func (w *ruleWriter) keywords() string {
	return "[" + w.word() + pick(w.rng, []string{"", ", " + w.word(), ", 4688", ", true"}) + "]"
}

func (w *ruleWriter) mapping() string {
	entries := map[string]string{}
	for range 1 + w.rng.IntN(3) {
		k, v := w.entry(w.field())
		entries[k] = v
		if w.v3 && w.oneIn(2) {
			k, v := w.block()
			entries[k] = v
		}
	}
	return flow(entries)
}

func flow(entries map[string]string) string {
	var parts []string
	for k, v := range entries {
		parts = append(parts, quoteYAML(k)+": "+v)
	}
	// Map order is random, the seed's answer must not be.
	for i := range parts {
		for j := i; j > 0 && parts[j] < parts[j-1]; j-- {
			parts[j], parts[j-1] = parts[j-1], parts[j]
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (w *ruleWriter) field() string {
	if w.v3 && w.oneIn(5) {
		return pick(w.rng, []string{"c[0]", "c[-1].p", "a.b[1]", `c\[0\]`, "A[5]"})
	}
	return pick(w.rng, names)
}

// block is an array block of version 3.
func (w *ruleWriter) block() (key, value string) {
	key = pick(w.rng, []string{"c", "a.b", "A", "x"}) + "[" + pick(w.rng, []string{"any", "all", "all_or_empty", "none"}) + "]"
	switch w.rng.IntN(5) {
	case 0:
		_, mods, v := w.item()
		return key + mods, v
	case 1:
		k, v := w.entry("p")
		return key + "." + k, v
	case 2:
		k, v := w.entry(".")
		return key, flow(map[string]string{k: v})
	case 3:
		k1, v1 := w.entry("p")
		k2, v2 := w.entry(pick(w.rng, []string{"q", ".", "q.r"}))
		return key, fmt.Sprintf("{condition: %q, i: {%s: %s}, t: {%s: %s}}",
			pick(w.rng, []string{"i and not t", "i or t", "1 of them", "not i", "(i or t) and (i or not t)", "not (i and t) and (i or 1 of them)"}), quoteYAML(k1), v1, quoteYAML(k2), v2)
	}
	k1, v1 := w.entry("p")
	k2, v2 := w.entry(pick(w.rng, []string{"q", "q[any]", "q.r"}))
	return key, flow(map[string]string{k1: v1, k2: v2})
}

func (w *ruleWriter) entry(field string) (key, value string) {
	_, mods, v := w.item()
	return field + mods, v
}

// item is modifiers and values that go together.
func (w *ruleWriter) item() (kind int, mods, value string) {
	kind = w.rng.IntN(24)
	if kind >= 16 {
		mods, value = w.anyItem()
		return kind, mods, value
	}
	switch kind {
	case 0:
		return kind, "", pick(w.rng, []string{"4688", "1.5", "-1", "1e3", "18446744073709551615", "9007199254740993", "true", "false", "null", "[null, foo]", "[4688, foo, true]", "[]", "''"})
	case 1:
		return kind, pick(w.rng, []string{"|gt", "|gte", "|lt", "|lte"}), pick(w.rng, []string{"5", "4688", "'1.5'", "-1", "[1, 100]"})
	case 2:
		return kind, "|exists", pick(w.rng, []string{"true", "false"})
	case 3:
		return kind, pick(w.rng, []string{"|re", "|re", "|re|i", "|re|i|s", "|re|neq", "|re|m"}),
			pick(w.rng, []string{`'fo+'`, `'(foo|bar).{2,5}x?'`, `'^C:\\[a-z]+'`, `'\d{4}'`, `'task|kelvin'`, `'(?i)enc\b'`, `'.*'`, `'^$'`, `'[sk]+$'`, `'(a|b)*c'`})
	case 4:
		return kind, pick(w.rng, []string{"|cidr", "|cidr|neq"}), pick(w.rng, []string{"10.0.0.0/8", "'::1/64'", "192.168.1.0/24", "[10.0.0.0/30, 'fe80::/10']"})
	case 5:
		return kind, pick(w.rng, []string{"|fieldref", "|fieldref|contains", "|fieldref|neq", "|fieldref|cased", "|fieldref|endswith"}), quoteYAML(pick(w.rng, names))
	case 6:
		return kind, pick(w.rng, []string{"|expand", "|expand|contains", "|expand|neq", "|expand|cased", "|expand|startswith"}),
			quoteYAML(pick(w.rng, []string{"%A%", "x%B%y", `C:\%a.b%\x`, "100%", "%%x%C%", "%n%*"}))
	case 7:
		return kind, pick(w.rng, []string{"|minute", "|hour", "|day", "|week", "|month", "|year"}), strconv.Itoa(w.rng.IntN(60))
	case 8:
		return kind, pick(w.rng, []string{"|contains|all", "|all", "|contains|all|neq"}), "[" + w.word() + ", " + w.word() + "]"
	case 9:
		return kind, pick(w.rng, []string{"|contains", "|cased", "|base64", "|startswith"}), pick(w.rng, []string{"46", "[8, 15]", "1.5"})
	case 10, 11:
		return kind, pick(w.rng, []string{"", "|contains", "|startswith", "|endswith", "|cased", "|windash", "|neq"}), w.wildcard()
	}
	mods = pick(w.rng, modifiers)
	if strings.Contains(mods, "base64") || w.oneIn(2) {
		return kind, mods, w.plainWord()
	}
	return kind, mods, "[" + w.plainWord() + ", " + w.plainWord() + "]"
}

func (w *ruleWriter) word() string {
	if w.oneIn(4) {
		return w.wildcard()
	}
	return w.plainWord()
}

func (w *ruleWriter) plainWord() string { return quoteYAML(pick(w.rng, words)) }

func (w *ruleWriter) wildcard() string {
	s := pick(w.rng, words)
	for range 1 + w.rng.IntN(2) {
		i := w.rng.IntN(len(s) + 1)
		for i < len(s) && s[i]&0xC0 == 0x80 {
			i++
		}
		s = s[:i] + pick(w.rng, []string{"*", "?", "?", "*", `\*`, `\\*`}) + s[i:]
	}
	return quoteYAML(s)
}

func quoteYAML(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
