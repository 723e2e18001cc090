package correlation_test

import (
	"fmt"

	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/correlation/internal/match"
	"github.com/sluicehq/sluice/sigma/correlation/internal/program"
	"github.com/sluicehq/sluice/sigma/load"
)

func Example() {
	rules := load.FromBytes("rules.yml", []byte(`
title: Failed login
id: failed
detection: {s: {outcome: failure}, condition: s}
---
title: Guessing
id: guessing
level: high
correlation:
  type: event_count
  rules: [failed]
  group-by: [user]
  timespan: 5m
  condition: {gte: 3}
`), load.Options{})
	p, err := program.Compile(rules.Correlations, rules.Rules, program.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}

	// A worker: what the event means to correlations.
	extractor, document := match.NewExtractor(p.Spec()), match.NewDocument(p.Spec())
	record := func(time int64, json string) []byte {
		document.Set([]byte(json))
		return extractor.Append(nil, []int{0}, time, document) // the event met rule 0
	}

	// The stage: one event after the other.
	engine := correlation.New(p, correlation.Limits{})
	for second := range int64(3) {
		engine.Begin()
		results, _, err := engine.Process(record(1000+second, `{"outcome":"failure","user":"ann"}`), 1000+second, 1000+second, nil)
		if err != nil {
			engine.Rollback()
			continue
		}
		engine.Commit()
		for _, r := range results {
			fmt.Println(string(r.AppendNative(nil, nil)))
		}
	}
	// Output:
	// {"rule_title":"Guessing","rule_id":"guessing","level":"high","tags":[],"correlation_type":"event_count","group_key":[["user","ann"]],"aggregated_value":3,"timespan_secs":300}
}
