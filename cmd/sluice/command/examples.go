package command

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// examples are command lines for the help of each command. Tests run them in a
// directory with rules/, pipelines/, lists.yml, sources/, events.ndjson, dead.ndjson and
// sluice.yaml.
var examples = map[string][]string{
	"engine daemon": {
		"sluice engine daemon -r rules/ --api-addr 127.0.0.1:9090 < events.ndjson",
		"sluice engine daemon -r rules/ --api-addr 127.0.0.1:9090 --input http --state-db state/",
		"sluice engine daemon --config sluice.yaml --log-format text",
	},
	"engine eval": {
		"sluice engine eval -r rules/ < events.ndjson",
		"sluice engine eval -r rules/ -e @events.ndjson --output-format csv",
		`sluice engine eval -r rules/ -p sysmon -e '{"EventID": 1, "CommandLine": "whoami /all"}'`,
	},
	"engine status": {
		"sluice engine status --addr 127.0.0.1:9090",
		"sluice engine status --addr 127.0.0.1:9090 --output-format json",
	},
	"engine rules": {
		"sluice engine rules --addr 127.0.0.1:9090",
		"sluice engine rules --addr 127.0.0.1:9090 --hit false --product windows",
		"sluice engine rules --addr 127.0.0.1:9090 --sort hits --limit 10",
	},
	"engine log-level": {
		"sluice engine log-level --addr 127.0.0.1:9090",
		"sluice engine log-level debug --for 10m --addr 127.0.0.1:9090",
		"sluice engine log-level info,sluice.sink=debug --addr 127.0.0.1:9090",
	},
	"engine incidents export": {"sluice engine incidents export 383cec03aede7b76 --addr 127.0.0.1:9090"},
	"silence add": {
		`sluice silence add rule=rule-whoami 'match.User=~"adm.*"' --for 2h --comment 'pentest' --addr 127.0.0.1:9090`,
		"sluice silence add --incident 383cec03aede7b76 --for 1d --addr 127.0.0.1:9090",
		"sluice silence add --result result.ndjson --match CommandLine --until 2099-01-01T00:00:00Z --addr 127.0.0.1:9090",
	},
	"silence list": {
		"sluice silence list --addr 127.0.0.1:9090",
		"sluice silence list --addr 127.0.0.1:9090 --output-format json",
	},
	"silence expire": {"sluice silence expire 0f4f6c0e-0d0b-4c55-8f4e-2b1f3c9d7a11 --addr 127.0.0.1:9090"},
	"silence extend": {"sluice silence extend 7c0a4f7e-52a3-4f0e-9a44-6d1f0c2b9e35 --for 1h --addr 127.0.0.1:9090"},
	"sources list": {
		"sluice sources list --addr 127.0.0.1:9090",
		"sluice sources list --addr 127.0.0.1:9090 --output-format json",
	},
	"sources resolve": {
		"sluice sources resolve --addr 127.0.0.1:9090",
		"sluice sources resolve blocked --addr 127.0.0.1:9090",
	},
	"sources invalidate": {"sluice sources invalidate blocked --addr 127.0.0.1:9090"},
	"incidents list": {
		"sluice incidents list --addr 127.0.0.1:9090",
		"sluice incidents list --addr 127.0.0.1:9090 --output-format json",
	},
	"incidents show": {"sluice incidents show 383cec03aede7b76 --addr 127.0.0.1:9090"},
	"incidents export": {
		"sluice incidents export 383cec03aede7b76 --addr 127.0.0.1:9090",
		"sluice incidents export 383cec03aede7b76 --bundle-format markdown -o incident.md --addr 127.0.0.1:9090",
	},
	"rule validate": {
		"sluice rule validate rules/",
		"sluice rule validate rules/ -v -p sysmon",
		"sluice rule validate rules/ -p lists.yml --source sources/ --resolve-sources",
	},
	"rule parse":     {"sluice rule parse rules/whoami.yml --pretty"},
	"rule stdin":     {"sluice rule stdin --pretty < rules/whoami.yml"},
	"rule condition": {"sluice rule condition --pretty '1 of selection_* and not filter'"},
	"rule fields":    {"sluice rule fields -r rules/ -p ecs_windows"},
	"rule migrate-sources": {
		"sluice rule migrate-sources -p pipelines/ -o sources.yml --dry-run",
		"sluice rule migrate-sources -p pipelines/ -o sources.yml",
		"sluice rule migrate-sources -p pipelines/ -o sources/ --strategy per-pipeline",
	},
	"dlq list": {
		"sluice dlq list dead.ndjson",
		"sluice dlq list dead.ndjson --stage delivery --since 2h",
	},
	"dlq show": {"sluice dlq show 1 dead.ndjson"},
	"dlq replay": {
		"sluice dlq replay dead.ndjson --addr 127.0.0.1:9090",
		"sluice dlq replay dead.ndjson --sink file --to file://again.ndjson --rate 100",
		"sluice dlq replay dead.ndjson --to stdout --dry-run",
		"sluice dlq replay dead.ndjson --webhook webhooks.yml --dry-run",
	},
	"pipeline list":    {"sluice pipeline list"},
	"pipeline show":    {"sluice pipeline show sysmon"},
	"completion bash":  {"sluice completion bash > sluice.bash"},
	"completion zsh":   {"sluice completion zsh > _sluice"},
	"completion fish":  {"sluice completion fish > sluice.fish"},
	"completion words": {"sluice completion words -- engine st"},
	"man":              {"sluice man > sluice.1"},
	"pipeline diff":    {"sluice pipeline diff -r rules/ -p sysmon"},
	"pipeline resolve": {
		"sluice pipeline resolve -p lists.yml --source-file sources/",
		"sluice pipeline resolve -p lists.yml --source-file sources/ --dry-run --output-format table",
	},
	"config init":     {"sluice config init -o my.yaml"},
	"config validate": {"sluice config validate --strict -c sluice.yaml"},
	"config show":     {"sluice config show --for daemon"},
	"config path":     {"sluice config path"},
	"config schema":   {"sluice config schema > sluice.schema.json"},
	"config openapi":  {"sluice config openapi > openapi.json"},
	"config reload": {
		"sluice config reload --addr 127.0.0.1:9090",
		"sluice config reload --addr 127.0.0.1:9090 --wait=1m",
	},
	"config gen-cert": {
		"sluice config gen-cert",
		"sluice config gen-cert -o certs --host sluice.example.com --host 10.0.0.5 --days 7",
	},
	"version": {"sluice version", "sluice version --output-format json"},
}

// exampleText is the part of a help template that shows the description: examples.
const exampleText = "{{if .Description}}\nExamples:\n{{.Description}}{{end}}"

// addExamples describes every command by its examples, and a group by the first
// example of each of its commands.
func addExamples(app *cli.App) {
	app.Description = exampleLines(examples["engine eval"][0], examples["engine daemon"][0], examples["rule validate"][0])
	if app.Command("daemon").Hidden { // a build without it
		app.Description = exampleLines(examples["engine eval"][0], examples["rule validate"][0])
	}
	for _, c := range app.Commands {
		list := examples[c.Name]
		if list == nil { // an alias, or a group
			list = examples["engine "+c.Name]
		}
		c.Description = exampleLines(append(list, addGroupExamples(c, c.Name)...)...)
	}
}

// addGroupExamples describes the commands of a group, and returns the first example of each.
func addGroupExamples(group *cli.Command, name string) (list []string) {
	for _, sub := range group.Subcommands {
		own := examples[name+" "+sub.Name]
		if len(sub.Subcommands) > 0 {
			own = addGroupExamples(sub, name+" "+sub.Name)
		}
		if len(own) > 0 && (!sub.Hidden || sub.Name != "daemon") {
			sub.Description = exampleLines(own...)
			list = append(list, own[0])
		}
	}
	return list
}

func exampleLines(list ...string) string {
	var b strings.Builder
	for _, line := range list {
		b.WriteString("  " + line + "\n")
	}
	return b.String()
}
