package acceptance

import (
	"bytes"
	"encoding/json"
	"maps"
	"strconv"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/sigmatest"
)

// every says which events of the corpus are used: all of them in a plain run.
func every(lines [][]byte) [][]byte {
	if len(buildFlags) == 0 {
		return lines
	}
	var some [][]byte
	for i := 0; i < len(lines); i += 50 {
		some = append(some, lines[i])
	}
	return some
}

// Every row of the expected hits, by the program as it is shipped: one-shot
// evaluation and the daemon say the same, byte for byte, and what was counted
// by two other engines.
func TestTheCorpusIsJudgedAsExpected(t *testing.T) {
	rules := sigmatest.RuleDir(t, "rules")
	want := map[string]map[string]int{}
	for _, h := range sigmatest.ExpectedHits(t) {
		key := h.Lane + "/" + strconv.FormatBool(h.Routed)
		if want[key] == nil {
			want[key] = map[string]int{}
		}
		want[key][h.RuleID] = h.Count
	}
	lanes := sigmatest.Lanes()
	if len(buildFlags) > 0 {
		lanes = []string{sigmatest.Telemetry} // loading alone takes long under the race detector
	}
	for _, lane := range lanes {
		all := sigmatest.Lane(t, lane)
		used := every(all)
		input := bytes.Join(used, []byte("\n"))
		for _, routed := range []bool{false, true} {
			t.Run(lane+"/routed="+strconv.FormatBool(routed), func(t *testing.T) {
				flags := []string{"-r", rules}
				if routed {
					flags = append(flags, "--logsource-routing", "--logsource-derive", "off")
				}
				eval := pipe(t, input, append([]string{"engine", "eval"}, flags...)...)
				got := map[string]int{}
				for line := range bytes.Lines(eval) {
					var r struct {
						ID string `json:"rule_id"`
					}
					if err := json.Unmarshal(line, &r); err != nil {
						t.Fatalf("result %s: %v", line, err)
					}
					got[r.ID]++
				}
				if len(used) == len(all) && !maps.Equal(got, want[lane+"/"+strconv.FormatBool(routed)]) {
					t.Errorf("hits %v, want %v", got, want[lane+"/"+strconv.FormatBool(routed)])
				}
				daemon := pipe(t, input, append([]string{"engine", "daemon", "--api-addr", "127.0.0.1:0", "--drain-timeout", "500"}, flags...)...)
				if !bytes.Equal(daemon, eval) {
					t.Errorf("the daemon wrote %d bytes, engine eval %d: they must be the same", len(daemon), len(eval))
				}
			})
		}
	}
}

// Real Windows events, with the log source that their channel, provider and event id
// stand for: what is left of the results are those of rules for such events, and the
// daemon says the same.
func TestTheTelemetryIsJudgedByItsLogSources(t *testing.T) {
	if watched {
		t.Skip("loading the rules alone takes long under the race detector; the test of the corpus does it there")
	}
	rules := sigmatest.RuleDir(t, "rules")
	used := every(sigmatest.Lane(t, sigmatest.Telemetry))
	input := bytes.Join(used, []byte("\n"))
	all := map[string]int{}
	for line := range bytes.Lines(pipe(t, input, "engine", "eval", "-r", rules)) {
		all[string(line)]++
	}
	derived := pipe(t, input, "engine", "eval", "-r", rules, "--logsource-routing")
	results := 0
	for line := range bytes.Lines(derived) {
		results++
		if all[string(line)]--; all[string(line)] < 0 {
			t.Fatalf("a result that is not there when every rule is tried: %s", line)
		}
	}
	if results != 196 {
		t.Errorf("%d results, want the 196 of rules for these records", results)
	}
	daemon := pipe(t, input, "engine", "daemon", "--api-addr", "127.0.0.1:0", "--drain-timeout", "500", "-r", rules, "--logsource-routing")
	if !bytes.Equal(daemon, derived) {
		t.Errorf("the daemon wrote %d bytes, engine eval %d: they must be the same", len(daemon), len(derived))
	}
}

// pipe runs a command on input and returns what it wrote.
func pipe(t *testing.T, input []byte, args ...string) []byte {
	t.Helper()
	cmd := command(t, args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(5*patience, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, errs.String())
	}
	return out.Bytes()
}
