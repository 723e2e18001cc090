package reference_test

func resultCases() []situation {
	const enc = `title: Enc
id: e-1
level: high
tags: [attack.execution]
score: 7
detection:
  img: {Image|endswith: \PS.exe}
  kw: [FromBase64]
  gone: {Parent: null}
  condition: img and kw and gone
`
	const head = `{"rule_title":"Enc","rule_id":"e-1","level":"high","tags":["attack.execution"],"custom_attributes":{"score":7},"matched_selections":["img","kw","gone"],"matched_fields":[`
	const event = `{"Image":"C:\\PS.exe","Msg":"x frombase64 y"}`
	encCase := func(detail, fields string) situation {
		return situation{
			Name: "every part of a result at detail " + detail, Rules: enc, Detail: detail,
			Events: []caseEvent{{Line: event, Fires: []string{"Enc"}, Result: head + fields + `]}`}},
		}
	}
	bare := func(name, attribute string, include bool, want string) situation {
		return situation{
			Name: name, Rules: attribute + rule(`{A: 1}`), IncludeEvent: include,
			Events: []caseEvent{{
				Line: `{ "A": 1 }`, Fires: []string{"T"},
				Result: `{"rule_title":"T","rule_id":null,"level":null,"tags":[]` + want + `}`,
			}},
		}
	}
	const matched = `,"matched_selections":["sel"],"matched_fields":[{"field":"A","value":1}]`
	timed := func(name, line string, on bool, want string) situation {
		return situation{
			Name: name, Rules: rule(`{A: 1}`), ResultTime: on, Arrival: 1720621800,
			Events: []caseEvent{{Line: line, Fires: []string{"T"}, Result: `{"rule_title":"T","rule_id":null,"level":null,"tags":[]` + want + matched + `}`}},
		}
	}
	full := func(name, sel, line, fields string) situation {
		return situation{Name: "full detail: " + name, Rules: rule(sel), Detail: "full", Events: with(yes(line), ``, fields)}
	}
	return []situation{
		encCase("off", `{"field":"Image","value":"C:\\PS.exe"}`),
		encCase("summary", `{"field":"Image","value":"C:\\PS.exe","selection":"img","matcher":"endswith","case_sensitive":false},`+
			`{"field":"keyword","value":"x frombase64 y","selection":"kw","matcher":"keyword","case_sensitive":false},`+
			`{"field":"Parent","value":null,"selection":"gone","matcher":"null"}`),
		encCase("full", `{"field":"Image","value":"C:\\PS.exe","selection":"img","matcher":"endswith","pattern":"\\ps.exe","case_sensitive":false},`+
			`{"field":"keyword","value":"x frombase64 y","selection":"kw","matcher":"keyword","pattern":"frombase64","case_sensitive":false},`+
			`{"field":"Parent","value":null,"selection":"gone","matcher":"null"}`),
		bare("a rule without id, level and tags", "", false, matched),
		bare("a rule may ask for the event", "sluice.include_event: \"true\"\n", false,
			`,"custom_attributes":{"sluice.include_event":"true"}`+matched+`,"event":{"A":1}`),
		bare("but not refuse it", "sluice.include_event: \"false\"\n", true,
			`,"custom_attributes":{"sluice.include_event":"false"}`+matched+`,"event":{"A":1}`),
		bare("custom attributes are sorted at every level", "z: 1\na: {d: [2, {y: 1, x: null}], c: true}\n", false,
			`,"custom_attributes":{"a":{"c":true,"d":[2,{"x":null,"y":1}]},"z":1}`+matched),
		{
			Name: "values and events keep their spelling", Rules: rule(`{n: 1.5, s: Ab}`), IncludeEvent: true,
			Events: []caseEvent{{
				Line: `{ "n": 1.50, "s": "\u0041b", "z": [1, 2], "a": 0 }`, Fires: []string{"T"},
				Result: `{"rule_title":"T","rule_id":null,"level":null,"tags":[],"matched_selections":["sel"],"matched_fields":[{"field":"n","value":1.50},{"field":"s","value":"\u0041b"}],"event":{"n":1.50,"s":"\u0041b","z":[1,2],"a":0}}`,
			}},
		},
		{
			Name: "invalid UTF-8 becomes U+FFFD wherever it is shown", Rules: rule(`{F|startswith: a}`), IncludeEvent: true,
			Events: []caseEvent{{
				Line: "{\"F\":\"a\xff\",\"k\xc3\":1}", Fires: []string{"T"},
				Result: `{"rule_title":"T","rule_id":null,"level":null,"tags":[],"matched_selections":["sel"],"matched_fields":[{"field":"F","value":"a` + "\ufffd" + `"}],"event":{"F":"a` + "\ufffd" + `","k` + "\ufffd" + `":1}}`,
			}},
		},
		timed("the event's own time", `{"A":1,"@timestamp":"2024-07-10T14:30:00.9+02:00"}`, true, `,"timestamp":"2024-07-10T12:30:00Z"`),
		timed("an offset without colon", `{"A":1,"timestamp":"x","EventTime":"2024-07-10 14:30:00+0200"}`, true, `,"timestamp":"2024-07-10T12:30:00Z"`),
		timed("milliseconds as text", `{"A":1,"TimeCreated":"1720614600123"}`, true, `,"timestamp":"2024-07-10T12:30:00Z"`),
		timed("the arrival without a usable time", `{"A":1,"@timestamp":true}`, true, `,"timestamp":"2024-07-10T14:30:00Z"`),
		timed("nothing without the flag", `{"A":1,"@timestamp":"2024-07-10T14:30:00.9+02:00"}`, false, ``),
		full("a number", `{A: 4624}`, `{"A":"4624"}`, `[{"field":"A","value":"4624","selection":"sel","matcher":"numeric","pattern":"= 4624"}]`),
		full("an order", `{A|gte: 5}`, `{"A":7}`, `[{"field":"A","value":7,"selection":"sel","matcher":"numeric","pattern":">= 5"}]`),
		full("a boolean", `{A: true}`, `{"A":"yes"}`, `[{"field":"A","value":"yes","selection":"sel","matcher":"bool","pattern":"true"}]`),
		full("presence", `{A|exists: true}`, `{"A":{"b": 1}}`, `[{"field":"A","value":{"b":1},"selection":"sel","matcher":"exists","pattern":"true"}]`),
		full("absence of a null field", `{A|exists: false}`, `{"A":null}`, `[{"field":"A","value":null,"selection":"sel","matcher":"exists","pattern":"false"}]`),
		full("absence of a missing field gives nothing", `{A|exists: false}`, `{}`, `[]`),
		full("a wildcard", `{A: 'X*Y'}`, `{"A":"xzy"}`, `[{"field":"A","value":"xzy","selection":"sel","matcher":"regex","pattern":"X*Y"}]`),
		full("a regular expression with its flags in front", `{A|re|s|i: 'a.b'}`, `{"A":"A\nB"}`, `[{"field":"A","value":"A\nB","selection":"sel","matcher":"regex","pattern":"(?is)a.b"}]`),
		full("a network in canonical form", `{A|cidr: '10.1.2.3/8'}`, `{"A":"10.0.0.1"}`, `[{"field":"A","value":"10.0.0.1","selection":"sel","matcher":"cidr","pattern":"10.0.0.0/8"}]`),
		full("several alternatives", `{A|contains: [Foo, bar]}`, `{"A":"xBAR"}`, `[{"field":"A","value":"xBAR","selection":"sel","matcher":"one_of","pattern":"foo, bar","case_sensitive":false}]`),
		full("several alternatives that are not all texts", `{A: [foo, 5]}`, `{"A":5}`, `[{"field":"A","value":5,"selection":"sel","matcher":"one_of","pattern":"foo, = 5"}]`),
		full("case is told", `{A|cased|startswith: Foo}`, `{"A":"Foox"}`, `[{"field":"A","value":"Foox","selection":"sel","matcher":"startswith","pattern":"Foo","case_sensitive":true}]`),
		full("negation is told", `{A|neq: Foo}`, `{"A":"x"}`, `[{"field":"A","value":"x","selection":"sel","matcher":"exact","pattern":"foo","case_sensitive":false,"negated":true}]`),
		full("a reference", `{A|fieldref: B}`, `{"A":"x","B":"X"}`, `[{"field":"A","value":"x","selection":"sel","matcher":"fieldref","pattern":"B","case_sensitive":false}]`),
		full("a template", `{A|expand: 'X%B%'}`, `{"A":"xy","B":"y"}`, `[{"field":"A","value":"xy","selection":"sel","matcher":"expand","pattern":"X%B%","case_sensitive":false}]`),
		full("a part of a time", `{A|hour: 3}`, `{"A":1720583100}`, `[{"field":"A","value":1720583100,"selection":"sel","matcher":"timestamp","pattern":"= 3"}]`),
	}
}

func routingCases() []situation {
	const rules = `title: L
logsource: {product: linux}
detection: {sel: {C: x}, condition: sel}
---
title: W
logsource: {product: windows, category: process_creation}
detection: {sel: {C: x}, condition: sel}
---
title: G
detection: {sel: {C: x}, condition: sel}
`
	return []situation{
		{Name: "a rule for another logsource is skipped", Rules: rules, Routing: &caseRouting{}, Events: []caseEvent{
			{Line: `{"C":"x","product":"Windows"}`, Fires: []string{"W", "G"}, Pruned: 1},
			{Line: `{"C":"x"}`, Fires: []string{"L", "W", "G"}, WithoutLogsource: true},
			{Line: `{"C":"x","product":"windows","category":"dns"}`, Fires: []string{"G"}, Pruned: 2},
			{Line: `{"C":"y","product":"windows"}`, Pruned: 1},
		}},
		{
			Name: "a static value stands in for a blank field", Rules: rules, Routing: &caseRouting{Static: map[string]string{"product": "linux"}},
			Events: []caseEvent{{Line: `{"C":"x","product":"  "}`, Fires: []string{"L", "G"}, Pruned: 1}},
		},
		{Name: "without routing every rule is tried", Rules: rules, Events: []caseEvent{{Line: `{"C":"x","product":"Windows"}`, Fires: []string{"L", "W", "G"}}}},
	}
}
