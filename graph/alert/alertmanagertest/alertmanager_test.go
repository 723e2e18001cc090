package alertmanagertest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/prometheus/alertmanager/alert"
	"github.com/prometheus/alertmanager/config"
	amcommoncfg "github.com/prometheus/alertmanager/config/common"
	"github.com/prometheus/alertmanager/dispatch"
	"github.com/prometheus/alertmanager/eventrecorder"
	"github.com/prometheus/alertmanager/featurecontrol"
	"github.com/prometheus/alertmanager/inhibit"
	"github.com/prometheus/alertmanager/marker"
	"github.com/prometheus/alertmanager/nflog"
	"github.com/prometheus/alertmanager/notify"
	"github.com/prometheus/alertmanager/pkg/labels"
	"github.com/prometheus/alertmanager/provider/mem"
	amsilence "github.com/prometheus/alertmanager/silence"
	"github.com/prometheus/alertmanager/silence/silencepb"
	"github.com/prometheus/alertmanager/timeinterval"
)

// alertmanager is Alertmanager without its API and its cluster: what it keeps alerts,
// silences and notifications in, and what goes between them, wired as its own command does.
type alertmanager struct {
	t        *testing.T
	begun    time.Time
	line     *timeline
	alerts   *mem.Alerts
	silences *amsilence.Silences
	ids      map[string]string // of silences, by their names here

	mu    sync.Mutex // guards what follows: groups notify by themselves
	names map[model.Fingerprint]string
	heard map[string]bool
	outcome
}

// receiver is the only one that is notified.
const receiver = "test"

// forever is longer than any timeline.
const forever = 365 * 24 * time.Hour

// runAlertmanager has Alertmanager go through a timeline, in virtual time.
func runAlertmanager(t *testing.T, l *timeline) *outcome {
	t.Helper()
	a := &alertmanager{t: t, line: l, ids: map[string]string{}, names: map[model.Fingerprint]string{}, heard: map[string]bool{}}
	synctest.Test(t, func(t *testing.T) { a.run(t.Context()) })
	a.mute(l, a.heard)
	return &a.outcome
}

func (a *alertmanager) run(ctx context.Context) {
	stop := a.start(ctx)
	for _, st := range a.line.steps {
		time.Sleep(time.Until(a.begun.Add(time.Duration(st.at) * time.Second)))
		switch st.verb {
		case "fire":
			a.fire(ctx, st)
		case "silence":
			a.ask(st.at, "silence "+st.name, a.silence(ctx, st))
		case "delete":
			a.ask(st.at, "delete "+st.name, a.delete(ctx, st))
		}
		synctest.Wait()
	}
	stop()
}

func (a *alertmanager) start(ctx context.Context) (stop func()) {
	reg, log, events, features := prometheus.NewRegistry(), promslog.NewNopLogger(), eventrecorder.NopRecorder(), featurecontrol.NoopFlags{}
	must := func(err error) {
		if err != nil {
			a.t.Fatal(err)
		}
	}
	var err error
	a.begun = time.Now()
	a.silences, err = amsilence.New(amsilence.Options{Retention: forever, Metrics: reg, Logger: log, EventRecorder: events})
	must(err)
	silencer := amsilence.NewSilencer(a.silences, log, events)
	a.alerts, err = mem.NewAlerts(ctx, 30*time.Minute, 0, silencer, log, events, reg, features)
	must(err)
	notified, err := nflog.New(nflog.Options{Retention: forever, Logger: log, Metrics: reg})
	must(err)
	groups := marker.NewGroupMarker()
	inhibitor := inhibit.NewInhibitor(a.alerts, a.inhibitions(), log, events)
	integration := notify.NewIntegration(a, a, receiver, 0, receiver)
	pipeline := notify.NewPipelineBuilder(reg, features, events).New(map[string][]notify.Integration{receiver: {integration}},
		func() time.Duration { return 0 }, inhibitor, silencer, timeinterval.NewIntervener(nil), groups, notified, nil)
	dispatcher := dispatch.NewDispatcher(a.alerts, a.route(), pipeline, groups,
		func(d time.Duration) time.Duration { return max(d, notify.MinTimeout) }, 30*time.Second, a, log, events, nil, nil)
	go inhibitor.Run()
	inhibitor.WaitForLoading()
	go dispatcher.Run(a.begun)
	dispatcher.WaitForLoading()
	synctest.Wait()
	return func() {
		dispatcher.Stop()
		inhibitor.Stop()
		a.alerts.Close()
	}
}

// MaxNumberOfAggregationGroups implements dispatch.Limits.
func (a *alertmanager) MaxNumberOfAggregationGroups() int { return a.line.groups }

func (a *alertmanager) route() *dispatch.Route {
	s := &a.line.setup
	duration := func(seconds int) *model.Duration {
		d := model.Duration(time.Duration(seconds) * time.Second)
		return &d
	}
	route := &config.Route{Receiver: receiver, GroupByAll: s.by == nil, GroupWait: duration(s.wait), GroupInterval: duration(s.interval)}
	if s.repeat > 0 {
		route.RepeatInterval = duration(s.repeat)
	}
	for _, name := range s.by {
		route.GroupBy = append(route.GroupBy, model.LabelName(name))
	}
	return dispatch.NewRoute(route, nil)
}

var kinds = map[string]labels.MatchType{"=": labels.MatchEqual, "!=": labels.MatchNotEqual, "=~": labels.MatchRegexp, "!~": labels.MatchNotRegexp}

func (a *alertmanager) inhibitions() (rules []amcommoncfg.InhibitRule) {
	compile := func(text string) (all amcommoncfg.Matchers) {
		for _, m := range matchers(a.t, text) {
			one, err := labels.NewMatcher(kinds[m.op], m.label, m.value)
			if err != nil {
				a.t.Fatal(err)
			}
			all = append(all, one)
		}
		return all
	}
	for _, r := range a.line.inhibit {
		rules = append(rules, amcommoncfg.InhibitRule{SourceMatchers: compile(r.source), TargetMatchers: compile(r.target), Equal: strings.Fields(r.equal)})
	}
	return rules
}

// fire is what the API does with an alert that comes without an end: it ends when its time
// without another is over.
func (a *alertmanager) fire(ctx context.Context, st step) {
	now := time.Now()
	set := make(model.LabelSet)
	for name, value := range st.labels {
		if value != "" { // the API drops empty labels
			set[model.LabelName(name)] = model.LabelValue(value)
		}
	}
	a.mu.Lock()
	a.names[set.Fingerprint()] = st.name
	a.mu.Unlock()
	end := now.Add(time.Duration(a.line.resolve) * time.Second)
	if err := a.alerts.Put(ctx, &alert.Alert{Alert: model.Alert{Labels: set, StartsAt: now, EndsAt: end}, UpdatedAt: now, Timeout: true}); err != nil {
		a.t.Fatal(err)
	}
}

// Notify implements notify.Notifier.
func (a *alertmanager) Notify(_ context.Context, all ...*alert.Alert) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	firing, resolved := make(map[string]bool), make(map[string]bool)
	for _, one := range all {
		name := a.names[one.Fingerprint()]
		if a.heard[name] = true; one.Resolved() {
			resolved[name] = true
		} else {
			firing[name] = true
		}
	}
	list := func(set map[string]bool) string { return strings.Join(slices.Sorted(maps.Keys(set)), ", ") }
	text := list(firing)
	if len(resolved) > 0 {
		text = strings.TrimPrefix(text+"; ", "; ") + list(resolved) + " resolved"
	}
	a.tell(int(time.Since(a.begun).Seconds()), len(firing), len(firing) == 0, text)
	return false, nil
}

// SendResolved implements notify.ResolvedSender.
func (a *alertmanager) SendResolved() bool { return true }

func (a *alertmanager) silence(ctx context.Context, st step) string {
	s := &silencepb.Silence{Id: a.ids[st.id], CreatedBy: "somebody", Comment: "a reason"}
	set := new(silencepb.MatcherSet)
	types := map[string]silencepb.Matcher_Type{"=": silencepb.Matcher_EQUAL, "!=": silencepb.Matcher_NOT_EQUAL, "=~": silencepb.Matcher_REGEXP, "!~": silencepb.Matcher_NOT_REGEXP}
	for _, m := range st.matchers {
		set.Matchers = append(set.Matchers, &silencepb.Matcher{Type: types[m.op], Name: m.label, Pattern: m.value})
	}
	s.MatcherSets = []*silencepb.MatcherSet{set}
	at := func(second int) *timestamppb.Timestamp {
		return timestamppb.New(a.begun.Add(time.Duration(second) * time.Second))
	}
	if st.begins {
		s.StartsAt = at(st.starts)
	}
	if st.limits {
		s.EndsAt = at(st.ends)
	}
	if err := a.silences.Set(ctx, s); err != nil {
		return "is refused"
	}
	a.ids[st.name] = s.Id
	text := "is made"
	if st.begins {
		text += fmt.Sprintf(", begins at %d s", int(s.StartsAt.AsTime().Sub(a.begun).Seconds()))
	}
	return text + a.listed(ctx)
}

func (a *alertmanager) delete(ctx context.Context, st step) string {
	if err := a.silences.Expire(ctx, a.ids[st.name]); err != nil {
		return "is refused"
	}
	return "is done" + a.listed(ctx)
}

// listed says what silences there are.
func (a *alertmanager) listed(ctx context.Context) string {
	time.Sleep(time.Millisecond) // a silence is active at its very end
	all, _, err := a.silences.Query(ctx)
	if err != nil {
		a.t.Fatal(err)
	}
	states := make(map[string]int)
	for _, s := range all {
		switch now := time.Now(); {
		case now.Before(s.StartsAt.AsTime()):
			states["pending"]++
		case now.After(s.EndsAt.AsTime()):
			states["expired"]++
		default:
			states["active"]++
		}
	}
	return list(states)
}
