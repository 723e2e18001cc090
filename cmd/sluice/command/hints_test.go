package command

import (
	"fmt"
	"strings"
	"testing"
)

// What a slip of the fingers leads to is in a golden file: the message with its
// suggestion, for every kind of name.
func TestHints(t *testing.T) {
	inEmptyDir(t)
	write(t, "rules/a.yml", goodRule)
	write(t, "keys.yaml", "daemon:\n  rules: rules\n  inptu: {}\n  input: {bufer_size: 4}\n  tapp: {}\n  mailboxes: {praze: 4, adit: 5}\n  api: {addr: '127.0.0.1:0'}\n"+
		"  output: {sinks: ['fil:///x', 'stdout?onfull=drop', 'stdout?format=ndjsn', 'stdout?on_full=dorp', 'nats://x:1/y']}\n  pipelines: [sysmonn, no.yml]\n")
	var b strings.Builder
	for _, line := range []string{
		// commands
		"engin", "engine statsu", "status", "validate", "reload", "engine validate", "nothing", "rule nothing", "--versio",
		// flags
		"daemon --ruls x", "engine daemon --rule x", "rule validate rules --pipelin sysmon", "config reload --wiat", "eval --event-file x", "daemon -x", "engine daemon -c sluice.yaml", "eval -c sluice.yaml", "engine --ruls",
		// flags of what this version does not have are no suggestions
		"daemon --enable-tal", "daemon --enricher x", "daemon --alert-pipelin x", "daemon --tls-crt x",
		// values
		"daemon --log-level infoo", "daemon -r rules --api-addr 127.0.0.1:0 --min-level hgh", "daemon -r rules --api-addr 127.0.0.1:0 --input-format jsno",
		"config show --format jsn", "config show --for daemn", "engine status --output-format jsno", "engine status --color allways",
		"daemon -r rules", "daemon -r rules --api-addr 127.0.0.1:0 --input htp", "daemon -r rules --api-addr 127.0.0.1:0 --input unix://x",
		// actors, sinks, pipelines
		"daemon -r rules --api-addr 127.0.0.1:0 --mailbox-size evalute=4", "daemon -r rules --api-addr 127.0.0.1:0 --mailbox-size adit=4",
		"daemon -r rules --api-addr 127.0.0.1:0 --output fil:///x", "daemon -r rules --api-addr 127.0.0.1:0 --output stdot",
		"daemon -r rules --api-addr 127.0.0.1:0 --output stdout?onfull=drop", "daemon -r rules --api-addr 127.0.0.1:0 --output stdout?format=ndjsn",
		"daemon -r rules --api-addr 127.0.0.1:0 --dlq stdout?format=ndjson", "daemon -r rules --api-addr 127.0.0.1:0 -p sysmonn",
		"eval -r rules -p sysmonn", "eval -r rules -p no.yml", "rule validate rules -p ecs_window", "rule fields -r rules -p sysmonn", "pipeline diff -r rules -p windows_evt",
		// the same in a file
		"config validate -c keys.yaml",
		// arguments
		"engine daemon rules", "engine eval events.ndjson", "engine status 127.0.0.1:9090", "config validate sluice.yaml", "config reload --wait 5s", "rule validate", "rule parse", "rule condition",
		"rule fields", "pipeline diff", "engine eval",
	} {
		got := sluiceWith(t, Program{Daemon: new(capture).run}, "", strings.Fields(line)...)
		fmt.Fprintf(&b, "$ sluice %s\n%s%s[%d]\n\n", line, got.out, got.err, got.code)
	}
	t.Setenv("SLUICE_DAEMON__INPUT__BUFER_SIZE", "5")
	t.Setenv("SLUICE_DAEMON__TAP__MAX_SESSION", "5")
	got := sluice(t, "", "config", "validate")
	fmt.Fprintf(&b, "$ SLUICE_DAEMON__INPUT__BUFER_SIZE=5 SLUICE_DAEMON__TAP__MAX_SESSION=5 sluice config validate\n%s%s[%d]\n", got.out, got.err, got.code)
	text := volatile.ReplaceAllString(b.String(), "*")
	wantGolden(t, "hints", text)
}
