package bundle

import (
	"iter"
	"strings"
	"unicode"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/event"
)

var (
	markup = strings.NewReplacer(
		`\`, `\\`, "`", "\\`", `*`, `\*`, `_`, `\_`, `[`, `\[`, `]`, `\]`, `<`, `\<`, `>`, `\>`, `#`, `\#`, `|`, `\|`,
	)
	breaks = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")
	feeds  = strings.NewReplacer("\r\n", "\n", "\r", "\n")
)

// harmless is a text without characters that steer a terminal, or hide or turn what is beside
// them. Tabs and line feeds stay.
func harmless(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && r != '\n' && ast.Steers(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// plain is a text that Markdown shows as it is, on one line.
func plain(text string) string { return markup.Replace(harmless(breaks.Replace(text))) }

// code is a text in a code span.
func code(text string) string {
	if text == "" {
		text = " " // two backticks alone would begin another span
	}
	return "`" + strings.ReplaceAll(harmless(breaks.Replace(text)), "`", "'") + "`"
}

// item is a text in a line of a list, of which it cannot make a fence.
func item(text string) string { return fenceless(plain(text)) }

// lines is plain for a text of several lines, which it keeps. None of them can begin a
// fence, or make a heading of the line before it.
func lines(text string) string {
	all := strings.Split(harmless(feeds.Replace(text)), "\n")
	for i, line := range all {
		rest := strings.TrimLeft(line, " \t")
		indent := line[:len(line)-len(rest)]
		if rest = strings.TrimRight(rest, " \t"); rest != "" && (strings.Trim(rest, "=") == "" || strings.Trim(rest, "- \t") == "") {
			all[i] = indent + `\` + rest
			continue
		}
		all[i] = indent + fenceless(markup.Replace(rest))
	}
	return strings.Join(all, "\n")
}

// fenceless is a text at the beginning of a line without the fence that it may begin with.
func fenceless(text string) string {
	if strings.HasPrefix(text, "~~~") {
		return `\` + text
	}
	return text
}

// members are those of a JSON object, in its order; none of nothing.
func members(object []byte) iter.Seq2[string, event.Value] {
	return func(yield func(string, event.Value) bool) {
		if len(object) == 0 {
			return
		}
		for key, value := range event.ValueOf(object).Members {
			if !yield(string(event.AppendUnquoted(nil, key)), value) {
				return
			}
		}
	}
}

func unquoted(v event.Value) string { return string(event.AppendUnquoted(nil, v.Raw)) }

// shown is a string as it is, and anything else as compact JSON.
func shown(v event.Value) string {
	if v.Type == event.String {
		return unquoted(v)
	}
	return string(event.AppendCompact(nil, v.Raw))
}
