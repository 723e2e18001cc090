package command

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// It does not matter how the input arrives: whole, or line by line.
func TestAlertsAreTheSameHoweverTheInputArrives(t *testing.T) {
	const untimed = `{"kind":"fail","ip":"1"}` + "\n"
	for _, tc := range []struct {
		name, events string
		want         []string
	}{
		{
			"results before the first time are repeated at it", untimed + untimed + at(1_700_000_000, "fail", "1") + at(1_700_000_001, "none", ""),
			[]string{"rule-ssh GROUP", "repeat rule-ssh 3 of 0 to 1700000000", "group_wait 3 of 0 to 1700000000"},
		},
		{
			"what is over before the first time ends at the first tick", untimed + at(1_700_000_000, "none", "") + at(1_700_000_005, "fail", "1"),
			[]string{
				"rule-ssh GROUP", "resolved rule-ssh 1 of 0 to 0", "group_wait 1 of 0 to 0",
				"resolved 1 of 0 to 0", "rule-ssh GROUP", "group_wait 1 of 1700000005 to 1700000005",
			},
		},
		{
			"no event has a time", untimed + untimed,
			[]string{"rule-ssh GROUP", "group_wait 2 of 0 to 0"},
		},
		{
			"late events and gaps", at(5000, "none", "") + at(1000, "fail", "1") + untimed + at(5000, "fail", "2") + at(90_000, "none", "") + at(90_001, "fail", "2"),
			[]string{
				"rule-ssh GROUP", "rule-ssh GROUP", "group_wait 2 of 5000 to 5000", "group_wait 1 of 5000 to 5000", "repeat rule-ssh 2 of 5000 to 5000",
				"resolved rule-ssh 1 of 5000 to 5000", "resolved rule-ssh 2 of 5000 to 5000",
				"resolved 2 of 5000 to 5000", "resolved 1 of 5000 to 5000", "rule-ssh GROUP", "group_wait 1 of 90001 to 90001",
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			const file = "{dedup: {fingerprint: [match.ip], repeat_interval: 60s, resolve_timeout: 120s}, group: {by: [match.ip], group_wait: 30s, resolve_timeout: 1h}}"
			outcome := func(from io.Reader) string {
				var out bytes.Buffer
				lines := &console{Streams: Streams{Out: &out, Err: io.Discard}, format: formatNDJSON}
				e := evaluateFrom(t, newPrinter(lines, false), sshRules, file, from)
				if n := e.alerts.ticks; n > 20 {
					t.Errorf("%d ticks, want as many as there is something to do", n)
				}
				return out.String()
			}
			whole := outcome(strings.NewReader(tc.events))
			if pieces := outcome(iotest.OneByteReader(strings.NewReader(tc.events))); pieces != whole {
				t.Errorf("line by line:\n%s, and at a time:\n%s", pieces, whole)
			}
			var got []string
			for _, line := range told(t, whole) {
				word, id, is := strings.Cut(line, " ")
				if is && word == "rule-ssh" && len(id) == 16 {
					line = word + " GROUP"
				}
				got = append(got, line)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got\n%s, want\n%s", strings.Join(got, "\n"), strings.Join(tc.want, "\n"))
			}
		})
	}
}

// Years without events cost nothing.
func TestGapsCostLittle(t *testing.T) {
	const year = 365 * 24 * 3600
	var out bytes.Buffer
	p := newPrinter(watched(&out, columns(80)), false)
	e := evaluateWith(t, p, sshRules, "group: {by: [match.ip], resolve_timeout: 1h}", at(1000, "fail", "1")+at(1000+year, "fail", "1")+at(1000+9*year, "none", ""))
	if e.alerts.ticks > 20 {
		t.Errorf("%d ticks in nine years, want as many as there is something to do", e.alerts.ticks)
	}
	// Nor do records that are held all the time.
	held := "silences: [{matchers: [{selector: rule, value: rule-ssh}], starts_at: '1970-01-01T00:16:41Z', ends_at: '1975-01-01T00:00:00Z'}]\n" +
		"dedup: {fingerprint: [match.ip], repeat_interval: 60s, resolve_timeout: 20000h}\ngroup: {by: [match.ip], repeat_interval: 1h, resolve_timeout: 9000h}"
	var events strings.Builder
	for i := range 100 {
		events.WriteString(at(1000, "fail", fmt.Sprint(i)) + at(1000, "fail", fmt.Sprint(i)))
	}
	events.WriteString(at(1000+year, "none", "") + at(1000+3*year, "none", "") + at(1000+9*year, "none", ""))
	e = evaluateWith(t, p, sshRules, held, events.String())
	if e.alerts.ticks > 100 {
		t.Errorf("%d ticks in nine years with held records, want as many as there is something to do", e.alerts.ticks)
	}
	if e.alerts.summaries != 100 || e.alerts.aboutIncidents != 0 {
		t.Errorf("%d records of alerts and %d of incidents", e.alerts.summaries, e.alerts.aboutIncidents)
	}
}
