package command

import (
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/cmd/sluice/shell"
)

func TestCompletionKnowsWhatMayFollow(t *testing.T) {
	inEmptyDir(t)
	for _, tc := range []struct {
		name  string
		words []string
		want  []string // all of them, without what they are about
	}{
		{"a command of the program", []string{"con"}, []string{"config"}},
		{"a command of a group", []string{"engine", ""}, []string{"daemon", "eval", "status", "rules", "log-level", "incidents"}},
		{"a command behind flags", []string{"-q", "engine", "st"}, []string{"status"}},
		{"a flag", []string{"engine", "daemon", "--input-"}, []string{"--input-format"}},
		{"a flag of every command", []string{"version", "--no"}, []string{"--no-stats"}},
		{"the flag for help", []string{"version", "--he"}, []string{"--help"}},
		{"a value that is one of a few words", []string{"daemon", "--input-format", "js"}, []string{"json"}},
		{"a value behind an equals sign", []string{"daemon", "--input-format=js"}, []string{"--input-format=json"}},
		{"a value where the shell breaks words", []string{"daemon", "--input-format", "=", "js"}, []string{"json"}},
		{"a switch that takes a value", []string{"daemon", "--syslog-strip-bom", ""}, []string{"true", "false"}},
		{"a value of a flag that is no setting", []string{"config", "show", "--format", ""}, []string{"text", "json", "yaml"}},
		{"an order of a list", []string{"engine", "rules", "--sort", "h"}, []string{"hits"}},
		{"a built-in pipeline, or a file", []string{"eval", "-p", "sys"}, []string{":files", "sysmon"}},
		{"a value that may be a file", []string{"eval", "--config", ""}, []string{":files"}},
		{"a number", []string{"eval", "--batch-size", ""}, nil},
		{"a file of a certificate", []string{"dlq", "replay", "--ca", ""}, []string{":files"}},
		{"the flags of clients", []string{"engine", "status", "--c"}, []string{"--config", "--ca", "--cert", "--color"}},
		{"the command for certificates", []string{"config", "gen"}, []string{"gen-cert"}},
		{"an argument", []string{"rule", "validate", ""}, []string{":files"}},
		{"no argument where there is none", []string{"engine", "status", ""}, nil},
		{"an argument behind two dashes", []string{"rule", "validate", "--", "-"}, []string{":files"}},
		{"no flag of a feature that is not in this build", []string{"daemon", "--enable-ta"}, nil},
		{"no hidden command", []string{"completion", "w"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := sluice(t, "", append([]string{"completion", "words", "--"}, tc.words...)...)
			got.wantCode(t, 0)
			var words []string
			for line := range strings.Lines(got.out) {
				word, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
				words = append(words, word)
			}
			if !slices.Equal(words, tc.want) {
				t.Errorf("got %q, want %q", words, tc.want)
			}
		})
	}
}

// The page names every command that does something and every flag of this build.
func TestTheManualPageIsWhole(t *testing.T) {
	inEmptyDir(t)
	got := sluice(t, "", "man")
	got.wantCode(t, 0)
	app := (&env{}).app()
	all := shell.Leaves(app.Commands, "")
	if len(all) < 10 {
		t.Fatalf("%d commands, want those of the program", len(all))
	}
	dashes := func(text string) string { return strings.ReplaceAll(text, "-", `\-`) } // that can be copied
	for _, c := range all {
		if !strings.Contains(got.out, "\n.SS sluice "+dashes(c.Full)+"\n") {
			t.Errorf("no part about %s", c.Full)
		}
		for _, s := range shell.Available(c.Flags) {
			if flag := `\fB\-\-` + dashes(s.Flag) + `\fR`; !strings.Contains(got.out, flag) {
				t.Errorf("%s: no flag %s", c.Full, s.Flag)
			}
		}
	}
	for _, variable := range []string{addrEnv, tokenEnv} {
		if !strings.Contains(got.out, "\n.B "+variable+"\n") {
			t.Errorf("no variable %s", variable)
		}
	}
	if flag := "enable" + `\-` + "tap"; strings.Contains(got.out, flag) {
		t.Error("a flag of a feature that is not in this build is there")
	}
	for _, leaf := range all {
		if leaf.Full == "daemon" || leaf.Full == "completion words" {
			t.Errorf("%s is a command of its own", leaf.Full)
		}
	}
}
