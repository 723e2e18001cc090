package reference_test

import (
	"fmt"
	"strconv"
	"strings"
)

// anyItem is modifiers and values of every combination that load accepts, drawn one by
// one: a base, what may transform its values, and what may stand beside any of them.
func (w *ruleWriter) anyItem() (mods, value string) {
	var set []string
	add := func(name string) { set = append(set, name) }
	base := pick(w.rng, []string{
		"", "", "", "contains", "contains", "startswith", "endswith", "re", "cidr", "exists", "fieldref", "fieldref",
		"gt", "gte", "lt", "lte", "minute", "hour", "day", "week", "month", "year",
	})
	if base != "" {
		add(base)
	}
	text := base == "" || base == "contains" || base == "startswith" || base == "endswith"
	template, encoded, offset := false, false, false
	switch {
	case text:
		if w.oneIn(3) {
			add("windash")
		}
		if w.oneIn(4) {
			encoded = true
			add(pick(w.rng, []string{"base64", "base64offset"}))
			offset = set[len(set)-1] == "base64offset"
		}
		if w.oneIn(5) {
			add(pick(w.rng, []string{"utf16", "utf16le", "wide", "utf16be"}))
		}
		if template = w.oneIn(4); template {
			add("expand")
		}
	case base == "re":
		for _, flag := range []string{"i", "ignorecase", "m", "multiline", "s", "dotall"} {
			if w.oneIn(4) {
				add(flag)
			}
		}
	case base == "fieldref" && w.oneIn(2):
		add(pick(w.rng, []string{"contains", "startswith", "endswith"}))
	}
	ordering := base == "gt" || base == "gte" || base == "lt" || base == "lte"
	if w.oneIn(3) {
		add("cased")
	}
	if base != "exists" && !ordering && w.oneIn(3) {
		add("neq")
	}
	all := w.oneIn(4)
	if all {
		add("all")
	}
	n := 1 + w.rng.IntN(3)
	if all {
		n = 2 + w.rng.IntN(2)
	}
	values := make([]string, n)
	for i := range values {
		values[i] = w.anyValue(base, text, template && !encoded && !w.hasUTF16(set), encoded, offset)
	}
	w.rng.Shuffle(len(set), func(i, j int) { set[i], set[j] = set[j], set[i] })
	for _, m := range set {
		mods += "|" + m
	}
	if n == 1 && w.oneIn(2) {
		return mods, values[0]
	}
	return mods, "[" + strings.Join(values, ", ") + "]"
}

func (w *ruleWriter) hasUTF16(set []string) bool {
	return strings.Contains(strings.Join(set, " "), "utf16") || strings.Contains(strings.Join(set, " "), "wide")
}

// anyValue is a value that goes with the modifiers.
func (w *ruleWriter) anyValue(base string, text, template, encoded, offset bool) string {
	switch {
	case base == "re":
		return pick(w.rng, []string{`'fo+'`, `'(foo|bar).{2,5}x?'`, `'^C:\\[a-z]+'`, `'\d{4}'`, `'task|kelvin'`, `'.*'`, `'^$'`, `'[sk]+$'`, "4688", "true", `''`, `'(a|ab)(c|bcd)*'`, `'\bfoo\b'`})
	case base == "cidr":
		return pick(w.rng, []string{"10.0.0.0/8", "'::1/64'", "192.168.1.0/24", "'fe80::/10'"})
	case base == "exists":
		return pick(w.rng, []string{"true", "false", "'yes'", "'no'", "1", "maybe"})
	case base == "fieldref":
		return pick(w.rng, []string{quoteYAML(pick(w.rng, names)), `'c\[0\]'`, `'c[0]'`, `'a\\b'`, `'x\*y'`, "7", "B"})
	case !text:
		return pick(w.rng, []string{strconv.Itoa(w.rng.IntN(60)), "'5'", "1.5", "'.5'", "1e3", "4688"})
	case encoded:
		s := pick(w.rng, append([]string{"4688", "true", "1.5"}, words...))
		if offset && s == "" {
			s = "foo"
		}
		return quoteYAML(s)
	case template && !w.oneIn(3):
		return quoteYAML(pick(w.rng, []string{"%A%", "x%B%y", `C:\%a.b%\x`, "%%x%C%", "%n%*", "%args[0]%", "%c[-1]%-%A%", `%c\[0\]%`, "%a.b.c%"}))
	}
	values := []string{w.word(), w.word(), w.wildcard(), "4688", "-1", "1.5", "1e25", "true", "false", "''"}
	if !template && !w.oneIn(4) {
		values = append(values, "null")
	}
	return pick(w.rng, values)
}

// large is a detection of many values, and a condition that names it often: what a
// compiler shares.
func (w *ruleWriter) large(i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "title: Large %d\nid: l%d\ndetection:\n", i, i)
	for j := range 2 + w.rng.IntN(2) {
		key, value := w.entry(w.field())
		fmt.Fprintf(&b, "  big%d: {%s: %s, %s: [%s]}\n", j, quoteYAML(key), value, pick(w.rng, []string{"'A|contains'", "B", "'C|endswith|neq'", "'a.b|startswith'", "'A|re'"}), w.manyWords())
	}
	fmt.Fprintf(&b, "  small: %s\n", w.detection())
	fmt.Fprintf(&b, "  condition: %q\n", pick(w.rng, []string{
		"(big0 or small) and (big1 or small) and (big0 or big1)", "not (big0 and small) and (1 of big* or small) and not (2 of big* and small)",
		"(big0 and small) or (big0 and big1) or (small and not big0)", "1 of big* and (1 of big* or small)", "not big0 and not (big0 and big1)",
	}))
	return b.String()
}

func (w *ruleWriter) manyWords() string {
	var list []string
	for i := range 70 {
		s := pick(w.rng, words) + pick(w.rng, []string{"", strconv.Itoa(i), ".exe"})
		list = append(list, quoteYAML(strings.NewReplacer(`\`, "", "(", "").Replace(s)))
	}
	return strings.Join(list, ", ")
}

// template is rules that one template makes.
func (w *ruleWriter) template(i int) []string {
	docs := []string{"action: global\n" + strings.Replace(w.large(i), fmt.Sprintf("title: Large %d\nid: l%d\n", i, i), "level: low\n", 1)}
	for j := range 2 + w.rng.IntN(3) {
		doc := fmt.Sprintf("title: Made %d of %d\n", j, i)
		if w.oneIn(3) {
			doc += fmt.Sprintf("detection: {small: %s}\n", w.detection())
		}
		docs = append(docs, doc)
	}
	return append(docs, "action: reset\n")
}
