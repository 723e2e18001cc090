package template

import (
	"fmt"
	"strings"
	"testing"
)

func TestBodiesThatAreNeverJSON(t *testing.T) {
	for _, tc := range []struct{ body, want string }{
		{`{"t":"${v.text}"}`, ""},
		{`{"t":${v.text},"e":${E}}`, ""},
		{`{${v.text}: 1, ${E} : 2}`, ""},
		{`{"n":-${v.text},"m":${v.text}.5,"o":${v.text}${v.text},"p":1e${v.text}}`, ""},
		{`[${v.text} , ${v.text}]`, ""},
		{`${v.text}`, ""},
		{"${E}", ""},
		{`"\u${v.text}\${v.text}"`, ""},
		{"", ""},
		{" {} \n", ""},
		{"title: ${v.text}", "invalid character 'i' in literal true (expecting 'r') on its line 1"},
		{"{\"a\": 1,\n\"t\": ${v.text},\n}", "invalid character '}' looking for beginning of object key string on its line 3"},
		{`{"t":"${v.text}"`, "it ends too early"},
		{`{"t":"${v.text}}`, "it ends too early"},
		{`{"t":"${v.text}"} ${v.text}`, "invalid character 'n' after top-level value on its line 1"},
		{`{"t":'${v.text}'}`, `invalid character '\'' looking for beginning of value on its line 1`},
		{`{"t":${v.text}px}`, "invalid character 'p' after object key:value pair on its line 1"},
		{" \n", "it ends too early"},
	} {
		err := parse(t, tc.body, map[string]string{"E": "1"}).CheckJSON()
		if got := fmt.Sprint(err); got != tc.want && (err != nil || tc.want != "") {
			t.Errorf("%s: got %v, want %s", tc.body, err, tc.want)
		}
	}
}

func TestSamplesAndVariables(t *testing.T) {
	for _, tc := range []struct {
		text, want, names string
		dots              bool
	}{
		{"https://h/x", "https://h/x", "", false},
		{"${A}/b/${v.text}?${B}", "https://h/b/S?", "A B", true},
		{"${A}", "https://h", "A", false},
	} {
		tpl := parse(t, tc.text, map[string]string{"A": "https://h"})
		got, dots := tpl.Sample([]byte("<"), "S")
		if string(got) != "<"+tc.want || dots != tc.dots || strings.Join(tpl.Variables(), " ") != tc.names {
			t.Errorf("%s: got %s, %t, %v", tc.text, got, dots, tpl.Variables())
		}
	}
}
