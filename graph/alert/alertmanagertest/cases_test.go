package alertmanagertest

// A comparison is one behaviour on one timeline.
type comparison struct {
	name   string
	of     aspect
	setup  setup
	script string
	same   bool
	why    string // of a difference
}

// aspect is what is compared of two outcomes.
type aspect string

const (
	told  aspect = "told"  // when somebody is told of a group, and of how many
	muted aspect = "muted" // what nobody ever hears of
	asked aspect = "asked" // what becomes of requests for silences
)

const (
	onArrival = "A result is told when it arrives, so that is when it is muted."
	stateful  = "Alertmanager waits with each notification and looks at all alerts that are active then. Sluice lets no result wait, so only what arrived before counts."
)

// alone is a setup in which each alert is told by itself, at once.
var alone = setup{wait: 0, interval: 300, resolve: 300}

// inhibits is a setup in which critical alerts inhibit high ones of the same ip.
func inhibits(wait int, equal string) setup {
	return setup{wait: wait, interval: 300, resolve: 300, inhibit: []inhibition{{"level=critical", "level=high", equal}}}
}

// grouped is a setup that groups by ip.
var grouped = setup{by: []string{"ip"}, wait: 30, interval: 300, resolve: 3600}

// folding is grouped with deduplication.
var folding = setup{by: []string{"ip"}, wait: 30, interval: 300, resolve: 3600, fold: true}

var comparisons = []comparison{
	{
		name: "Expressions match whole texts", of: muted, setup: alone, same: true,
		script: `
			0 silence S user=~ad.* ends=1000
			1 A user=admin
			2 B user=badmin
			3 C user=ADMIN
			9 end`,
	}, {
		name: "A negated expression", of: muted, setup: alone, same: true,
		script: `
			0 silence S user!~a|b rule=ssh ends=1000
			1 A rule=ssh user=a
			2 B rule=ssh user=ab
			9 end`,
	}, {
		name: "What is absent is the empty text", of: muted, setup: alone, same: true,
		script: `
			0 silence S rule=ssh user= ends=1000
			0 silence T rule=web user!=bo ends=1000
			1 A rule=ssh
			2 B rule=ssh user=bo
			3 C rule=web
			4 D rule=web user=bo
			9 end`,
	}, {
		name: "All matchers of a silence have to match", of: muted, setup: alone, same: true,
		script: `
			0 silence S rule=ssh user=bo ends=1000
			1 A rule=ssh user=al
			2 B rule=ssh user=bo
			9 end`,
	}, {
		name: "A silence that has not begun", of: muted, setup: alone, same: true,
		script: `
			0  silence S rule=ssh starts=50 ends=100
			10 A rule=ssh user=a
			60 B rule=ssh user=b
			99 end`,
	}, {
		name: "A silence that ends", of: told, setup: grouped,
		script: `
			0   silence S rule=ssh ends=100
			10  A rule=ssh ip=.1
			700 end`,
		why: onArrival + " Alertmanager keeps what is silenced, and tells it when the silence is over.",
	}, {
		name: "A silence that begins after an alert, before it is told", of: told, setup: grouped,
		script: `
			0   A rule=ssh ip=.1
			10  silence S rule=ssh ends=100
			700 end`,
		why: "The record waits for the end of the silence itself, not for the next `group_interval` behind it.",
	}, {
		name: "A silence that does not end", of: told, setup: setup{by: []string{"ip"}, wait: 30, interval: 300, resolve: 600}, same: true,
		script: `
			0    A rule=ssh ip=.1
			10   silence S rule=ssh ends=90000
			3000 end`,
	}, {
		name: "A silence on a later one of a group", of: told, setup: grouped, same: true,
		script: `
			0   silence S user=b ends=1000
			5   A ip=.1 user=a
			10  B ip=.1 user=b
			200 end`,
	}, {
		name: "A silence on the first of a group", of: told, setup: grouped,
		script: `
			0   silence S user=a ends=1000
			5   A ip=.1 user=a
			10  B ip=.1 user=b
			200 end`,
		why: "What is silenced opens no incident, so the time begins with the first result that passes.",
	}, {
		name: "A silence that is deleted", of: muted, setup: alone, same: true,
		script: `
			0  silence S rule=ssh ends=1000
			10 A rule=ssh user=a
			20 delete S
			30 B rule=ssh user=b
			99 end`,
	}, {
		name: "Deleted and expired silences", of: asked, setup: alone,
		script: `
			0  silence S rule=ssh ends=20
			1  silence T rule=web ends=1000
			10 delete T
			30 silence U rule=dns ends=1000
			99 end`,
		why: "Alertmanager lists them as expired for days. Here a silence is gone when it is deleted, and about a second after its end. The log has what it matched and who made it, and the audit trail of the API has the time and the token of each request that made or deleted one.",
	}, {
		name: "A silence without an end", of: asked, setup: alone,
		script: `
			0 silence S rule=ssh
			9 end`,
		why: "Results of a rule that is not wanted need no date.",
	}, {
		name: "A silence that matches everything", of: asked, setup: alone,
		script: `
			0 silence S user= ends=1000
			9 end`,
		why: "Nothing is refused that can be meant. `svc_silenced_total` shows how much is muted.",
	}, {
		name: "A silence that begins in the past", of: asked, setup: alone,
		script: `
			10 silence S rule=ssh starts=0 ends=1000
			99 end`,
		why: "A start is kept as it is written. It changes nothing, since results that have passed are not looked at again.",
	}, {
		name: "A silence of a known id", of: asked, setup: alone,
		script: `
			0  silence S rule=ssh ends=100
			10 silence T rule=ssh ends=1000 id=S
			99 end`,
		why: "There is no update: make another silence, then delete the first. `sluice silence extend` does both.",
	}, {
		name: "Sources inhibit targets", of: muted, setup: inhibits(0, "ip"), same: true,
		script: `
			0  A level=critical ip=.1
			10 B level=high ip=.1
			20 C level=high ip=.2
			99 end`,
	}, {
		name: "An inhibition ends", of: muted, setup: inhibits(0, "ip"), same: true,
		script: `
			0   A level=critical ip=.1
			299 B level=high ip=.1 user=b
			301 C level=high ip=.1 user=c
			310 end`,
	}, {
		name: "No `equal`: any source inhibits every target", of: muted, setup: inhibits(0, ""), same: true,
		script: `
			0  A level=critical ip=.1
			10 B level=high ip=.2
			99 end`,
	}, {
		name: "`equal` of what both lack", of: muted, setup: inhibits(0, "ip"), same: true,
		script: `
			0  A level=critical user=a
			10 B level=high user=b
			99 end`,
	}, {
		name: "A target that comes before its source", of: muted, setup: inhibits(30, "ip"),
		script: `
			0  B level=high ip=.1
			5  A level=critical ip=.1
			99 end`,
		why: stateful,
	}, {
		name: "A silenced source", of: muted, setup: inhibits(0, "ip"), same: true,
		script: `
			0  silence S level=critical ends=1000
			5  A level=critical ip=.1
			10 B level=high ip=.1
			99 end`,
	}, {
		name: "An inhibited source", of: muted,
		setup: setup{wait: 0, interval: 300, resolve: 300, inhibit: []inhibition{{"level=critical", "level=high", ""}, {"level=high", "level=low", ""}}},
		script: `
			0  A level=critical ip=.1
			10 B level=high ip=.1
			20 C level=low ip=.1
			99 end`,
		why: "What nobody is told of does not hide something else.",
	}, {
		name: "Alerts that match both sides of a rule", of: muted,
		setup: setup{wait: 0, interval: 300, resolve: 300, inhibit: []inhibition{{"level=~critical|high", "level=high", ""}}}, same: true,
		script: `
			0  A level=high ip=.1
			10 B level=high ip=.2
			99 end`,
	}, {
		name: "A target that matches both sides, and a source that does not", of: muted,
		setup: setup{wait: 0, interval: 300, resolve: 300, inhibit: []inhibition{{"level=~critical|high", "level=high", ""}}},
		script: `
			0  A level=critical ip=.1
			10 B level=high ip=.2
			99 end`,
		why: "What a rule takes as a source is never inhibited by that rule, whatever the source is. Only the key of a source is kept, not its labels.",
	}, {
		name: "`group_wait` counts from the first of a group", of: told, setup: grouped, same: true,
		script: `
			0   A ip=.1 user=a
			12  B ip=.1 user=b
			200 end`,
	}, {
		name: "Groups by a label", of: told, setup: grouped, same: true,
		script: `
			0   A ip=.1
			5   B ip=.2
			10  C ip=.1 user=c
			200 end`,
	}, {
		name: "What lacks the label", of: told, setup: grouped, same: true,
		script: `
			0   A user=a
			10  B user=b
			200 end`,
	}, {
		name: "News within `group_interval`", of: told, setup: grouped, same: true,
		script: `
			0   A ip=.1
			100 B ip=.1 user=b
			200 C ip=.1 user=c
			400 end`,
	}, {
		name: "News after a quiet time", of: told, setup: grouped,
		script: `
			0    A ip=.1
			700  B ip=.1 user=b
			1000 end`,
		why: "`group_interval` is the least time between two records, and no fixed cycle: news after a quiet time is told within a second.",
	}, {
		name: "The same again", of: told, setup: grouped,
		script: `
			0    A ip=.1
			400  A
			1000 end`,
		why: "Without deduplication each result is news.",
	}, {
		name: "The same again, with `dedup`", of: told, setup: folding, same: true,
		script: `
			0    A ip=.1
			400  A
			1000 end`,
	}, {
		name: "`repeat_interval`", of: told, setup: setup{by: []string{"ip"}, wait: 30, interval: 300, repeat: 1000, resolve: 3600},
		script: `
			0    A ip=.1
			2500 end`,
		why: "It has a timer of its own. Alertmanager looks only when a `group_interval` is over, here at 1230 s.",
	}, {
		name: "`repeat_interval` that is not set", of: told, setup: setup{by: []string{"ip"}, wait: 30, interval: 300, resolve: 36000},
		script: `
			0     A ip=.1
			20000 end`,
		why: "Alertmanager repeats every four hours then. Here nothing is repeated unless it is asked for.",
	}, {
		name: "Resolution", of: told, setup: setup{by: []string{"ip"}, wait: 30, interval: 300, resolve: 600},
		script: `
			0    A ip=.1
			200  B ip=.1 user=b
			2000 end`,
		why: "Results have no end, as alerts do. So an incident ends as a whole, `resolve_timeout` behind its last result, and that is told at once.",
	}, {
		name: "Too many groups", of: muted, setup: setup{by: []string{"ip"}, wait: 30, interval: 300, resolve: 3600, groups: 1},
		script: `
			0   A ip=.1
			5   B ip=.2
			200 end`,
		why: "A result that finds no room for an incident goes on without one. A warning says how many did.",
	},
}
