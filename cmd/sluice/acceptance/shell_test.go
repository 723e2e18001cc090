package acceptance

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/sigmatest"
)

// inShell runs a script in a shell whose PATH has the program, in a directory with one
// rule file.
func inShell(t *testing.T, script, shell string, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "my_rule.yml", rule("A", "evil"))
	cmd := exec.Command(shell, append(args, write(t, t.TempDir(), "script", script))...)
	cmd.Dir = dir
	cmd.Env = append(clean(dir), "TERM=dumb", "LC_ALL=C.UTF-8", "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"))
	got := finish(t, cmd, "")
	if got.code != 0 {
		t.Fatalf("exit code %d:\n%s%s", got.code, got.stdout, got.stderr)
	}
	return got.stdout
}

func wantLines(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains("\n"+got, "\n"+w+"\n") {
			t.Errorf("no line %q in\n%s", w, got)
		}
	}
}

func TestBashCompletesCommandsFlagsAndFiles(t *testing.T) {
	bash := sigmatest.Tool(t, "bash", "bash")
	wantLines(t, inShell(t, `
set -u
source <(sluice completion bash)
[[ $(complete -p sluice) == "complete -F _sluice sluice" ]]
try() {
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _sluice
    echo "$* > ${COMPREPLY[*]}"
}
try sluice engine ""
try sluice daemon --input-f
try sluice daemon --input-format = js
try sluice daemon --input-format =
try sluice rule validate my
`, bash, "--norc"),
		"sluice engine  > daemon eval status rules log-level incidents",
		"sluice daemon --input-f > --input-format",
		"sluice daemon --input-format = js > json",
		"sluice daemon --input-format = > auto json syslog plain logfmt cef",
		"sluice rule validate my > my_rule.yml")
}

func TestFishCompletesCommandsFlagsAndFiles(t *testing.T) {
	fish := sigmatest.Tool(t, "fish", "fish")
	wantLines(t, inShell(t, `
sluice completion fish | source
complete -C 'sluice engine d'
complete -C 'sluice daemon --input-f'
complete -C 'sluice daemon --input-format=js'
complete -C 'sluice daemon --config=my'
complete -C 'sluice rule validate my'
`, fish, "--no-config"),
		"daemon\trun the service",
		"--input-format\tForm of a line (auto, json, syslog, plain, logfmt, cef)",
		"--input-format=json",
		"--config=my_rule.yml",
		"my_rule.yml")
}

// An interactive shell is typed at. It is waited for what it makes of it, so a fault
// shows as a text that does not come.
func TestZshCompletesCommandsFlagsAndFiles(t *testing.T) {
	zsh := sigmatest.Tool(t, "zsh", "zsh")
	got := inShell(t, `
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PS1=$(echo pro)mpt RPS1= PROMPT_SP=; autoload -U compinit; compinit -u -D; source <(sluice completion zsh); bindkey "^I" complete-word'
zpty -r -m shell said '*prompt*'
try() {
    zpty -w -n shell $'\C-u'$1$'\t'
    zpty -r -m shell said "*$2*"
    print -r -- $2
}
try 'sluice engine dae' 'sluice engine daemon '
try 'sluice daemon --input-fo' 'sluice daemon --input-format '
try 'sluice daemon --input-format=js' 'sluice daemon --input-format=json '
try 'sluice rule validate my' 'sluice rule validate my_rule.yml '
zpty -d shell
`, zsh, "-f")
	wantLines(t, got, "sluice engine daemon ", "sluice daemon --input-format ", "sluice daemon --input-format=json ", "sluice rule validate my_rule.yml ")
}

// mandoc knows the language of manual pages, and says what it does not understand.
func TestTheManualPageIsWellFormed(t *testing.T) {
	mandoc := sigmatest.Tool(t, "mandoc", "mandoc")
	page := write(t, t.TempDir(), "sluice.1", sluice(t, "", "man").stdout)
	got := finish(t, exec.Command(mandoc, "-T", "lint", "-W", "warning", page), "")
	for line := range strings.Lines(got.stdout + got.stderr) {
		if !strings.Contains(line, "missing date") { // one source makes one page
			t.Error(line)
		}
	}
	text := plainText(finish(t, exec.Command(mandoc, "-T", "ascii", page), "").stdout)
	for _, want := range []string{"EXIT STATUS", "sluice engine eval --fail-on-detection"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// plainText undoes overstriking, by which terminals were told what is bold.
func plainText(s string) string {
	var out []rune
	for _, r := range s {
		if r == '\b' && len(out) > 0 {
			out = out[:len(out)-1]
			continue
		}
		out = append(out, r)
	}
	return string(out)
}
