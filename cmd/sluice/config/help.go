package config

import (
	"fmt"
	"reflect"
	"strings"
)

// helpOf is the one line that help, the template and the schema say about a
// setting. Sections share flags, and so their texts.
func helpOf(f *field) string {
	for _, key := range []string{f.path, "--" + f.flag} {
		if text, ok := helpTexts[key]; ok {
			return text + allowed(f)
		}
	}
	return ""
}

// technical is where upper bounds begin that only keep a span countable; they go
// without saying.
const technical = 1_000_000_000

// allowed spells out what bounds and word lists permit.
func allowed(f *field) string {
	switch {
	case f.words != nil:
		return " (" + list(f.words) + ")"
	case f.min != nil && f.max != nil && *f.max < technical:
		return fmt.Sprintf(" (%d to %d)", *f.min, *f.max)
	}
	return ""
}

// headingOf groups flags in help by the part of the tree they belong to.
func headingOf(f *field) string {
	parts := strings.Split(f.path, ".")
	if len(parts) <= 2 {
		return ""
	}
	return parts[1]
}

// wordOf names a flag's value after what it must be.
func wordOf(f *field) string {
	switch f.typ {
	case reflect.TypeFor[Bytes]():
		return "SIZE"
	case reflect.TypeFor[Duration]():
		return "DURATION"
	case reflect.TypeFor[Dimensions]():
		return "DIMENSIONS"
	}
	kind := f.typ.Kind()
	if kind == reflect.Pointer {
		kind = f.typ.Elem().Kind()
	}
	switch {
	case kind == reflect.Bool && f.mode == "value":
		return "BOOL"
	case kind == reflect.Bool:
		return ""
	case kind == reflect.Int || kind == reflect.Int64:
		return "N"
	case kind == reflect.Map:
		return "NAME=N"
	}
	return "VALUE"
}

func defaultText(v reflect.Value) string {
	if !v.IsValid() || v.IsZero() {
		return ""
	}
	switch v.Kind() {
	case reflect.Slice:
		return strings.Join(texts(v), ", ")
	case reflect.Pointer, reflect.Struct, reflect.Map:
		return ""
	}
	return fmt.Sprint(v.Interface())
}

var helpTexts = map[string]string{
	"version":         "Layout of this file",
	"--log-format":    "Form of log lines on stderr",
	"--output-format": "Form of the command's product",
	"--color":         "Colour on a terminal",
	"--log-level":     "Least severe level that is logged; stands for SLUICE_LOG with that one level",
	"--quiet":         "No progress, summaries or fallback warnings",
	"--no-stats":      "No summary line",

	"--rules":          "Rule file or directory; repeatable",
	"--min-level":      "Leave out rules of a lower level, or without one",
	"--exclude-rule":   "Leave out rules: ID, tag:TAG or status:STATUS; repeatable",
	"--pipeline":       "Processing pipeline, built in or a file; repeatable",
	"--source":         "File or directory of dynamic sources; repeatable",
	"--enrichers":      "File of enrichers",
	"--alert-pipeline": "File of the alert pipeline",
	"--risk":           "File of the risk layer",

	"--input":                           "Where events come from: stdin, http, nats://host:port/subject, unix:///path",
	"--input-format":                    "Form of a line",
	"--syslog-tz":                       "Offset of syslog stamps that have none",
	"--syslog-strip-bom":                "Drop a byte order mark before a syslog message",
	"--buffer-size":                     "Capacity of a mailbox, in units",
	"--buffer-bytes":                    "Bound of a data lane, in bytes; integer or with KiB, MiB, GiB; at least 1 MiB",
	"--batch-size":                      "Lines of a batch; at most what the mailbox of parse holds",
	"daemon.input.http.max_body_bytes":  "Largest inflated body; at least 1 MiB",
	"daemon.input.unix.max_connections": "Connections to the unix socket",
	"--jq":                              "jq program that turns a line's value into events",
	"--jsonpath":                        "JSONPath query that selects events of a line's value",

	"--api-addr":                            "Address of the API: IP:port or unix:///path",
	"--api-token-env":                       "Variable that holds the one admin token",
	"--tls-cert":                            "Certificate of the API",
	"--tls-key":                             "Key of the certificate",
	"--tls-key-password":                    "Refused: encrypted keys are not supported",
	"--tls-client-ca":                       "Roots that client certificates must lead to",
	"--tls-min-version":                     "Oldest TLS version (1.2, 1.3)",
	"--allow-plaintext":                     "Serve plaintext on an address that is not loopback",
	"daemon.api.auth.anonymous_permissions": "What callers without a token may do",
	"daemon.api.auth.roles":                 "Roles of your own: name to permissions",
	"daemon.api.auth.tokens":                "Tokens: name, token_env, and role or permissions",
	"daemon.api.audit.enabled":              "Keep a record of changes; on by default with a state database",
	"daemon.api.audit.max_entries":          "Newest entries kept",
	"daemon.api.audit.max_age":              "Age at which entries are dropped",
	"daemon.api.audit.max_body_bytes":       "Largest body of an audited route",
	"daemon.api.audit.sink":                 "Sink that gets every audit record",
	"--enable-pprof":                        "Serve profiles under /debug/pprof",

	"--output":                  "Sink: stdout, file://, nats://, otlp(s)://, otlphttp(s)://, unix://; repeatable",
	"--webhook":                 "File or directory of webhooks; repeatable",
	"--dlq":                     "Sink for what could not be processed",
	"--include-event":           "Put the event into each result",
	"--pretty":                  "Indented JSON on stdout",
	"--result-time":             "Put the event's time into each result",
	"--drain-timeout":           "Seconds to deliver what is under way at shutdown",
	"--sink-retry-max":          "Attempts after the first",
	"--sink-backoff-base-ms":    "First wait before a retry, in milliseconds",
	"--sink-backoff-max-ms":     "Longest wait before a retry, in milliseconds",
	"--sink-batch-max":          "Results of a delivery",
	"--sink-batch-flush-ms":     "Longest wait for a full delivery, in milliseconds",
	"--suppress":                "Silence of a correlation after it fired, such as 10m",
	"--action":                  "What happens to a window that fired",
	"--no-detections":           "Only correlations leave, not the detections they consist of",
	"--max-state-entries":       "Entries of all windows together",
	"--max-group-entries":       "Entries of one group; unbounded when unset",
	"--timestamp-field":         "Field tried first for an event's time; repeatable",
	"--timestamp-fallback":      "An event without a time: take the clock's, or leave it out of correlations",
	"--state-db":                "Directory of the state database",
	"--state-save-interval":     "Seconds between saves",
	"--clear-state":             "Restore nothing",
	"--keep-state":              "Restore everything, whatever is replayed",
	"--strict-rules":            "Refuse to run when any rule document is rejected",
	"--bloom-prefilter":         "Pre-filter for substrings",
	"--bloom-max-bytes":         "Memory of the pre-filter",
	"--cross-rule-ac":           "One automaton for the literals of all rules",
	"--match-detail":            "How much a result says about why it matched",
	"--observe-fields":          "Count the fields of events",
	"--allow-remote-include":    "Pipelines may include from other hosts",
	"--egress-policy":           "Addresses that outbound requests may reach",
	"--consumer-group":          "Durable consumer that instances share",
	"--nats-ack-mode":           "When messages are acknowledged",
	"--nats-creds":              "Credentials file",
	"--nats-token":              "Token",
	"--nats-user":               "User name",
	"--nats-password":           "Password",
	"--nats-nkey":               "NKey seed",
	"--nats-tls-cert":           "Client certificate",
	"--nats-tls-key":            "Key of the client certificate",
	"--nats-tls-ca":             "Roots the server's certificate must lead to",
	"--nats-require-tls":        "Refuse servers without TLS",
	"--replay-from-sequence":    "Read from this stream sequence",
	"--replay-from-time":        "Read from this time (RFC 3339)",
	"--replay-from-latest":      "Read only what comes from now on",
	"--observe-schemas":         "Count the kinds of events",
	"--discover-schemas":        "Propose signatures for unknown kinds",
	"--schema-routing":          "Judge events by the rules of their schema",
	"--schema-partition-rules":  "Compile a rule set per schema",
	"--schema-config":           "File of signatures and bindings",
	"--on-unknown":              "An event of no known schema (warn, drop, passthrough, error)",
	"--logsource-routing":       "Skip rules whose log source contradicts the event's",
	"--logsource-field-map":     "Fields that hold the log source: product=..,service=..,category=..,custom.NAME=..",
	"--event-logsource":         "Log source of events that state none, in the same form",
	"--enable-tap":              "Let operators watch events",
	"--enable-tail":             "Let operators watch results",
	"--enable-dispositions":     "Take in the verdicts of analysts",
	"--disposition-source":      "File of a source of verdicts",
	"--enable-capture":          "Keep the events behind judged incidents",
	"--mailbox-size":            "Capacity of one actor's mailbox, STAGE=N; repeatable",
	"--correlation-event-mode":  "Events in a correlation's result (none, full, refs)",
	"--max-correlation-events":  "Events in a correlation's result at most",
	"--observe-fields-max-keys": "Fields counted at most",

	"daemon.logsource_routing.strict":        "Accepted, without effect",
	"eval.logsource_routing.strict":          "Accepted, without effect",
	"daemon.tap.buffer_events":               "Events a slow watcher may lag behind",
	"daemon.tap.max_sessions":                "Sessions at once",
	"daemon.tap.max_duration":                "Longest session",
	"daemon.tail.buffer_events":              "Results a slow watcher may lag behind",
	"daemon.tail.max_sessions":               "Sessions at once",
	"daemon.dispositions.window":             "Verdicts older than this are forgotten",
	"daemon.dispositions.numerator":          "Which verdicts count as false",
	"daemon.dispositions.min_sample":         "Verdicts before a ratio is given",
	"daemon.capture.spool_dir":               "Directory of captured events",
	"daemon.capture.max_captured_incidents":  "Incidents held",
	"daemon.capture.max_events_per_incident": "Events of an incident",
	"daemon.capture.spool_queue_capacity":    "Incidents waiting to be written",
	"daemon.capture.max_event_bytes":         "Largest event",
	"daemon.capture.max_bytes_per_incident":  "Bytes of an incident",
	"daemon.capture.max_capture_bytes":       "Bytes held",
	"daemon.capture.max_spool_bytes":         "Bytes on disk",
	"daemon.capture.ttl":                     "How long events are held",
	"daemon.actors.max_restarts":             "Restarts of one actor before the daemon gives up",
	"daemon.actors.restart_window":           "Seconds in which they are counted",

	"--fail-on-detection":      "Exit 1 when anything was found",
	"--event":                  "One event as JSON, or @FILE; stdin when absent",
	"--observe-fields-report":  "File for the report of --observe-fields",
	"--dump-correlation-state": "Print the final windows on stderr",
	"--corpus":                 "Events to replay",
	"--expectations":           "What should fire",
	"--unexpected":             "A fire nobody expected",
	"--atomics":                "Directory of atomic tests",
	"--baseline":               "Earlier layer to compare with",
	"--targets":                "Techniques to cover",
	"--fail-on-gaps":           "Exit 1 on a gap",
	"--backtest":               "Report of a backtest",
	"--coverage":               "Report of coverage",
	"--metrics":                "Metrics of a daemon, a file or a URL",
	"--metrics-window":         "Span the metrics cover",
	"--triage":                 "Verdicts, a file or a URL",
	"--report":                 "File for the report",
	"--fail-on":                "Verdicts that exit 1",
	"--min-precision":          "Precision to keep a rule",
	"--tune-max-precision":     "Precision below which a rule needs tuning",
	"--retire-max-precision":   "Precision below which a rule should go",
	"--min-volume":             "Fires before a rule is judged",
	"--stale-window":           "Silence after which a rule is stale",
	"--max-fp-ratio":           "Largest ratio of false positives",
	"--fields":                 "Report of observed fields",
	"--silent-threshold":       "Age of a rule that never fired",
	"--stale-threshold":        "Silence of a rule that fired once",
	"--noisy-threshold":        "Span in which a noisy rule is judged",
	"--fail-on-missing":        "Exit 1 when a section is missing",
}
