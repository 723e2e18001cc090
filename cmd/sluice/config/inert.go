package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// unbuilt lists the settings whose feature this build does not have, by key or
// section. Those that change what is detected, delivered or protected refuse
// the start; of the others a warning says that nothing will come of them.
// Making a feature means deleting its line.
var unbuilt = []struct {
	path    string
	refuse  bool
	feature string
}{
	{"daemon.sources", true, "dynamic sources"},
	{"daemon.enrichers", true, "enrichment"},
	{"daemon.alert_pipeline", true, "the alert pipeline"},
	{"daemon.risk", true, "the risk layer"},
	{"daemon.input.jq", true, "the jq event filter"},
	{"daemon.input.jsonpath", true, "the JSONPath event filter"},
	{"daemon.input.unix", false, "the unix socket input"},
	{"daemon.api.tls.cert", true, "TLS"},
	{"daemon.api.tls.key", true, "TLS"},
	{"daemon.api.tls.client_ca", true, "TLS"},
	{"daemon.api.tls.min_version", false, "TLS"},
	{"daemon.api.auth", true, "authentication"},
	{"daemon.api.--api-token-env", true, "authentication"},
	{"daemon.api.audit", false, "the audit trail"},
	{"daemon.output.webhooks", true, "webhooks"},
	{"daemon.output.batch_flush_ms", false, "sinks that wait for a full delivery"},
	{"daemon.engine.egress_policy", false, "outbound requests"},
	{"daemon.engine.bloom_prefilter", false, "a pre-filter beside the engine's own index"},
	{"daemon.engine.bloom_max_bytes", false, "a pre-filter beside the engine's own index"},
	{"daemon.engine.cross_rule_ac", false, "an automaton beside the engine's own index"},
	{"daemon.engine.observe_fields", false, "the field observer"},
	{"daemon.engine.observe_fields_max_keys", false, "the field observer"},
	{"daemon.engine.allow_remote_include", false, "dynamic sources"},
	{"daemon.schema.routing", true, "schema routing"},
	{"daemon.schema.on_unknown", true, "schema routing"},
	{"daemon.schema", false, "schema recognition"},
	{"daemon.nats.--nats-creds", false, "the message bus"}, // variables that others set, too
	{"daemon.nats.--nats-token", false, "the message bus"},
	{"daemon.nats.--nats-user", false, "the message bus"},
	{"daemon.nats.--nats-password", false, "the message bus"},
	{"daemon.nats.--nats-nkey", false, "the message bus"},
	{"daemon.nats", true, "the message bus"},
	{"daemon.tap", false, "tap sessions"},
	{"daemon.tail", false, "tail sessions"},
	{"daemon.dispositions", false, "dispositions"},
	{"daemon.capture", false, "capture"},

	{"eval.--jq", true, "the jq event filter"},
	{"eval.--jsonpath", true, "the JSONPath event filter"},
	{"eval.schema.routing", true, "schema routing"},
	{"eval.schema.on_unknown", true, "schema routing"},
	{"eval.schema", false, "schema recognition"},
	{"eval.--bloom-prefilter", false, "a pre-filter beside the engine's own index"},
	{"eval.--bloom-max-bytes", false, "a pre-filter beside the engine's own index"},
	{"eval.--cross-rule-ac", false, "an automaton beside the engine's own index"},
	{"eval.--observe-fields", false, "the field observer"},
	{"eval.--observe-fields-report", true, "the field observer"},

	{"backtest", false, "the command rule backtest"},
	{"coverage", false, "the command rule coverage"},
	{"scorecard", false, "the command rule scorecard"},
	{"hygiene", false, "the command rule hygiene"},
	{"doc", false, "the command rule doc"},
}

// Inert is a setting that was made and has no effect in this build.
type Inert struct {
	Name    string // flag or dotted key
	Feature string
	Refuse  bool // running without the feature would not be what was asked for
}

// String says so in one sentence.
func (i Inert) String() string {
	return fmt.Sprintf("%s: not in this build (%s)", i.Name, i.Feature)
}

// Inert lists the settings of a section that were made, differ from their
// default and belong to a feature this build lacks. An empty section means all.
func (l *Loaded) Inert(section string) []Inert {
	top := l.root
	if section != "" {
		if top = l.root.child(section); top == nil {
			return nil
		}
	}
	var out []Inert
	defaults := reflect.ValueOf(Default()).Elem()
	top.walk(func(f *field) {
		v := at(reflect.ValueOf(l.Config).Elem(), f.index, false)
		if !v.IsValid() || l.madeBy(f) == LayerDefault {
			return
		}
		was := at(defaults, f.index, false)
		if was.IsValid() && same(v, was) {
			return
		}
		if feature, refuse, ok := lacking(f.path); ok {
			out = append(out, Inert{Name: l.Name(f.path), Feature: feature, Refuse: refuse})
		}
	})
	slices.SortStableFunc(out, func(a, b Inert) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// same compares values; an empty list is as good as none.
func same(a, b reflect.Value) bool {
	if k := a.Kind(); (k == reflect.Slice || k == reflect.Map) && a.Len() == 0 && b.Len() == 0 {
		return true
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}

// madeBy is the layer of a leaf, or of any of a map's entries.
func (l *Loaded) madeBy(f *field) Layer {
	if f.entries() {
		for path, layer := range l.sources {
			if strings.HasPrefix(path, f.path+".") {
				return layer
			}
		}
	}
	return l.Layer(f.path)
}

func lacking(path string) (feature string, refuse, ok bool) {
	for _, u := range unbuilt {
		if path == u.path || strings.HasPrefix(path, u.path+".") {
			return u.feature, u.refuse, true
		}
	}
	return "", false, false
}

// InactiveSections names the sections that were configured and have no effect
// at all, for `config validate`.
func (l *Loaded) InactiveSections() []string {
	names := []string{}
	for _, u := range unbuilt {
		f := l.find(u.path)
		if f == nil || !f.isSection() || slices.Contains(names, u.path) {
			continue
		}
		for path := range l.sources {
			if strings.HasPrefix(path, u.path+".") {
				names = append(names, u.path)
				break
			}
		}
	}
	return names
}

func (l *Loaded) find(path string) *field {
	f := l.root
	for name := range strings.SplitSeq(path, ".") {
		if f = f.child(name); f == nil {
			return nil
		}
	}
	return f
}
