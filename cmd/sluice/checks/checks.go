package checks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/evaluate"
	"github.com/sluicehq/sluice/actors/reload"
	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/actors/sources"
	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/inputs"
	"github.com/sluicehq/sluice/cmd/sluice/ruleset"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/http/audit"
	"github.com/sluicehq/sluice/internal/disk"
	"github.com/sluicehq/sluice/internal/redact"
	"github.com/sluicehq/sluice/internal/suggest"
	"github.com/sluicehq/sluice/internal/unavailable"
	"github.com/sluicehq/sluice/sigma/pipeline"
)

// check is one step of the start.
type check struct {
	name string // for readers
	make func(*checking)
}

// daemonChecks are the checks of the daemon in the order of its start.
var daemonChecks = []check{
	{"values and what they demand of each other", (*checking).settings},
	{"features that this build has", (*checking).features},
	{"alert pipeline", func(c *checking) { c.alertPipeline("daemon.alert_pipeline", c.d.AlertPipeline) }},
	{"pipelines", (*checking).pipelines},
	{"sources", (*checking).sources},
	{"state directory", (*checking).state},
	{"files of sinks and webhooks", (*checking).outputs},
	{"logins and certificates of inputs and sinks", (*checking).logins},
	{"certificate of the API", (*checking).certificate},
	{"settings of indexes", func(c *checking) {
		if c.validating { // a start says so in its log
			c.index("daemon.engine", c.d.Engine.Index)
		}
	}},
	{"mailboxes", (*checking).mailboxes},
}

// checking collects what the checks of one configuration find.
type checking struct {
	l      *config.Loaded
	d      *config.Daemon
	getenv func(string) string

	validating bool // look at every section, and at what only validation needs
	strict     bool
	problems   config.Problems
	warnings   config.Problems

	webhooks webhooks
	dynamic  bool // pipelines refer to sources
}

func (c *checking) fault(path string, err error) {
	c.problems = append(c.problems, c.l.Problem(path, err))
}

func (c *checking) warn(path string, err error) {
	c.warnings = append(c.warnings, c.l.Problem(path, err))
}

// doubt is a problem that validation only warns of, since a flag may solve it.
func (c *checking) doubt(path string, err error) {
	if c.validating && !c.strict {
		c.warn(path, fmt.Errorf("%w; a start without that flag is refused", err))
		return
	}
	c.fault(path, err)
}

// Daemon makes the checks of the daemon's start. The error is a config.Problems
// with all that the first failing check has found. getenv resolves the variables
// that hold secrets; no message shows one.
func Daemon(l *config.Loaded, getenv func(string) string) (warnings config.Problems, err error) {
	c := &checking{l: l, d: &l.Config.Daemon, getenv: getenv}
	c.misread()
	for _, step := range daemonChecks {
		if step.make(c); len(c.problems) > 0 {
			return c.placed(c.warnings), c.placed(c.problems)
		}
	}
	return c.placed(c.warnings), nil
}

// Eval makes the checks of a one-shot evaluation, likewise.
func Eval(l *config.Loaded) (warnings config.Problems, err error) {
	c := &checking{l: l, problems: l.Check("eval")}
	e := &l.Config.Eval
	if len(e.Rules) == 0 {
		c.fault("eval.rules", errors.New("no rules are named (--rules, or eval.rules in a file)"))
	}
	if len(c.problems) == 0 {
		c.problems, c.warnings = l.Unavailable("eval")
		c.index("eval", e.Index)
	}
	c.alertPipeline("eval.--alert-pipeline", e.AlertPipeline)
	c.routing("eval", &e.LogsourceRouting)
	if len(c.problems) > 0 {
		return c.warnings, c.problems
	}
	return c.warnings, nil
}

// index warns of settings that are accepted without effect.
func (c *checking) index(section string, i evaluate.Index) {
	if flags := i.Given(); len(flags) > 0 {
		c.warn(section, fmt.Errorf("%s: %s", strings.Join(flags, ", "), evaluate.NoEffect))
	}
}

func (c *checking) settings() {
	if c.validating {
		c.problems = append(c.problems, c.l.Check()...)
	} else {
		c.problems = append(c.problems, c.l.Check("daemon")...)
	}
	d := c.d
	if len(d.Rules) == 0 {
		c.doubt("daemon.rules", errors.New("no rules are named (--rules, or daemon.rules in a file)"))
	}
	c.inputs()
	c.transport()
	c.auth()
	c.routing("daemon", &d.LogsourceRouting)
	if on := d.API.Audit.Enabled; on != nil && *on && d.State.DB == "" {
		c.fault("daemon.api.audit.enabled", errors.New("needs a state database (--state-db)"))
	}
	if d.NATS.AckMode == "snapshot" && d.State.DB == "" {
		c.fault("daemon.nats.ack_mode", errors.New("snapshot needs a state database (--state-db)"))
	}
	if d.Capture.Enabled && !d.Dispositions.Enabled && d.Dispositions.Source == "" {
		c.fault("daemon.capture.enabled", errors.New("needs dispositions"))
	}
}

// routing warns of settings of routing by log source that have no effect without it.
func (c *checking) routing(section string, r *ruleset.LogsourceRouting) {
	for _, key := range []string{"event_logsource", "field_map", "derive"} {
		if path := section + ".logsource_routing." + key; !r.Enabled && c.l.Made(path) {
			c.warn(path, errors.New("has no effect without logsource_routing.enabled (--logsource-routing)"))
		}
	}
}

func (c *checking) features() {
	refused, ignored := c.l.Unavailable("daemon")
	c.problems, c.warnings = append(c.problems, refused...), append(c.warnings, ignored...)
}

func (c *checking) pipelines() {
	for i, name := range c.d.Pipelines {
		path := fmt.Sprintf("daemon.pipelines[%d]", i)
		set, err := pipeline.Load([]string{name})
		if err != nil {
			c.pipelineFault(path, name, err)
			continue
		}
		if !c.validating {
			continue // loading the rules tells
		}
		for _, text := range set.Pipelines[0].Warnings {
			c.warnings = append(c.warnings, config.Problem{Key: c.l.Name(path), File: name, Message: text})
		}
	}
}

// pipelineFault blames the pipeline's file for what is wrong in it, and the
// setting for a file that is not there.
func (c *checking) pipelineFault(path, name string, err error) {
	p := c.l.Problem(path, suggest.Wrap(fmt.Errorf("Error loading pipeline %w", err), name, pipeline.Builtins[:])) //nolint:staticcheck // users find the text in scripts
	var within *pipeline.LineError
	if errors.As(err, &within) {
		p.File, p.Line, p.Suggestion = name, within.Line, ""
	}
	c.problems = append(c.problems, p)
}

func (c *checking) state() {
	if dir := c.d.State.DB; dir != "" {
		if err := disk.CheckDirectory(dir); err != nil {
			c.fault("daemon.state.db", err)
		}
	}
}

func (c *checking) outputs() {
	c.destination("daemon.output.dlq", c.d.Output.DLQ, sink.RoleDLQ)
	for i, text := range c.d.Output.Sinks {
		c.destination(fmt.Sprintf("daemon.output.sinks[%d]", i), text, sink.RoleFindings)
	}
	c.auditSink()
	c.loadWebhooks()
}

func (c *checking) destination(path, text string, role sink.Role) {
	if text == "" {
		return
	}
	spec, warnings, err := sink.ParseSpec(text, role)
	if err != nil {
		return // the value is reported already
	}
	for _, w := range warnings {
		c.warn(path, fmt.Errorf("sink '%s': %s", redact.Text(text), w))
	}
	if err := spec.Present(); err != nil {
		c.fault(path, fmt.Errorf("sink '%s': %w", redact.Text(text), err))
	}
}

// inputs reports what is wrong with the inputs themselves.
func (c *checking) inputs() {
	sound := true
	specs := inputs.Parse(c.d.Input.Sources, nil, func(_ int, err error) { sound = false; c.fault("daemon.input.source", err) })
	for _, s := range specs {
		if s.Kind.NeedsState == nil || c.d.State.DB != "" {
			continue
		}
		if what := s.Kind.NeedsState(s); what != "" {
			c.fault("daemon.input.source", fmt.Errorf("input '%s': %s needs a state database (--state-db)", s, what))
		}
	}
	if err := inputs.CheckConsumers(specs, c.d); err != nil {
		c.fault("daemon.input.source", err)
	}
	if err := inputs.CheckReplay(specs, c.d.NATS.Input); err != nil && sound {
		c.fault("daemon.input.source", err)
	}
}

// logins reads what the connections of inputs and sinks need, if there are any.
func (c *checking) logins() {
	checked := make(map[string]bool) // schemes and kinds, which an input and a sink may share
	section := func(scheme, name string) func(string, error) {
		checked[scheme] = true
		return func(key string, err error) { c.fault("daemon."+name+"."+key, err) }
	}
	for _, s := range inputs.Parse(c.d.Input.Sources, nil, func(int, error) {}) { // errors are reported already
		if s.Kind.CheckLogin != nil && !checked[s.Scheme] {
			s.Kind.CheckLogin(c.d, s, time.Now(), section(s.Scheme, s.Kind.Section))
		}
	}
	c.cleartext(checked)
	specs := c.specs()
	if s := c.auditSpec(); s != nil {
		specs = append(specs, *s)
	}
	for _, s := range specs {
		if !checked[string(s.Kind)] {
			s.Kind.CheckLogin(sink.Logins{NATS: c.d.NATS.Config, Kafka: c.d.Kafka}, time.Now(), section(string(s.Kind), string(s.Kind)))
		}
	}
}

// mailboxes refuses capacities for actors that this configuration does not know,
// and warns of those that do not run.
func (c *checking) mailboxes() {
	known := []string{actors.NameDLQ, reload.Name, audit.Name, sources.Name}
	for _, s := range graph.Stages() {
		known = append(known, string(s))
	}
	for _, label := range sink.Labels(c.d.Output.Specs(func(int, error) {})) { // errors are reported already
		known = append(known, "sink:"+label)
	}
	known = append(known, c.webhooks.actors()...)
	off := unavailable.Actors()
	for _, name := range slices.Sorted(maps.Keys(c.d.Mailboxes)) {
		path := "daemon.mailboxes." + name
		switch {
		case slices.Contains(off, name), name == actors.NameDLQ && c.d.Output.DLQ == "", name == audit.Name && c.auditSpec() == nil, name == sources.Name && len(c.d.Sources) == 0:
			c.warn(path, errors.New("mailbox of an actor that is off"))
		case !slices.Contains(known, name) && !c.webhooks.mayHave(name):
			c.fault(path, suggest.Wrap(fmt.Errorf("unknown actor '%s' (%s)", name, strings.Join(known, ", ")), name, known))
		}
	}
}

// Report is all that validation has to say.
type Report struct {
	Problems config.Problems // by place
	Warnings config.Problems
	rules    int // how many problems are of the rules
}

// Code is the exit code of a start with this configuration.
func (r *Report) Code() int {
	switch {
	case len(r.Problems) > r.rules:
		return 3
	case r.rules > 0:
		return 2
	}
	return 0
}

// Validate makes all checks and loads the rules. failed is the error of loading l.
// With a file that cannot be read as a whole it is all there is to say. With
// strict, unknown keys, ignored variables and settings that a flag may still give are problems.
func Validate(ctx context.Context, l *config.Loaded, failed error, getenv func(string) string, strict bool) *Report {
	c := &checking{l: l, getenv: getenv, validating: true, strict: strict}
	if !errors.As(failed, &c.problems) && failed != nil {
		c.problems = config.Problems{{Message: failed.Error()}}
	}
	whole := func(p config.Problem) bool { return p.Key == "" }
	if slices.ContainsFunc(c.problems, whole) { // nobody knows what a file says that cannot be read
		return &Report{Problems: c.problems}
	}
	c.misread()
	c.d, c.warnings = &l.Config.Daemon, slices.Concat(l.Ignored, l.Warnings)
	if strict {
		c.problems, c.warnings = append(c.problems, l.Ignored...), slices.Clone(l.Warnings)
		for _, k := range l.UnknownKeys {
			k.Message = "unknown config key"
			c.problems = append(c.problems, k)
		}
	}
	for _, step := range daemonChecks {
		step.make(c)
	}
	for _, top := range l.Sections() {
		if top != "daemon" {
			refused, ignored := l.Unavailable(top)
			c.warnings = append(c.warnings, append(refused, ignored...)...)
		}
	}
	rules := c.rules(ctx)
	return &Report{Problems: c.placed(append(c.problems, rules...)), Warnings: c.placed(c.warnings), rules: len(rules)}
}

// placed sorts problems as a reader of the files meets them: file by file, from the first
// line to the last. What is in no file of the configuration comes last, in the order of
// its finding.
func (c *checking) placed(all config.Problems) config.Problems {
	slices.SortStableFunc(all, func(a, b config.Problem) int {
		at, bt := slices.Index(c.l.Files, a.File), slices.Index(c.l.Files, b.File)
		switch {
		case at < 0 && bt < 0:
			return 0
		case at < 0 || bt < 0:
			return cmp.Compare(bt, at)
		}
		return cmp.Or(cmp.Compare(at, bt), cmp.Compare(a.Line, b.Line))
	})
	return all
}

// Inactive names the sections that were configured and have no effect at all.
func Inactive(l *config.Loaded) []string {
	names := []string{}
	for _, feature := range unavailable.All() {
		for _, key := range feature.Ignored {
			if !strings.HasPrefix(key, "--") && l.Made(key) {
				names = append(names, key)
			}
		}
	}
	return names
}
