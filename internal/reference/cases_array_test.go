package reference_test

func arrayCases() []situation {
	const c = `{"c":[{"p":"UDP","ip":"10.0.0.9"},{"p":"TCP","ip":"8.8.8.8"},{"p":"TCP","ip":"10.1.1.1"}]}`
	over := func(name, sel, fields string) situation {
		return situation{Name: name, Rules: rule3(sel), Events: with(yes(c), `["sel"]`, fields)}
	}
	return []situation{
		over("a member must satisfy the whole mapping", `{'c[any]': {p: tcp, 'ip|cidr': 10.0.0.0/8}}`,
			`[{"field":"c[2].p","value":"TCP"},{"field":"c[2].ip","value":"10.1.1.1"}]`),
		over("sibling keys are independent searches", `{'c[any].p': UDP, 'c[any].ip': 8.8.8.8}`,
			`[{"field":"c[0].p","value":"UDP"},{"field":"c[1].ip","value":"8.8.8.8"}]`),
		{Name: "all wants every member", Rules: rule3(`{'c[all]': {p: TCP}}`), Events: no(c)},
		over("none tells the whole array", `{'c[none]': {p: ICMP}}`,
			`[{"field":"c","value":[{"p":"UDP","ip":"10.0.0.9"},{"p":"TCP","ip":"8.8.8.8"},{"p":"TCP","ip":"10.1.1.1"}]}]`),
		over("an extended body combines named detections", `{'c[any]': {condition: i and not t, i: {'ip|startswith': '10.'}, t: {p: TCP}}}`,
			`[{"field":"c[0].ip","value":"10.0.0.9"}]`),
		over("a negative position counts from the end", `{'c[-1].ip': 10.1.1.1}`, `[{"field":"c[-1].ip","value":"10.1.1.1"}]`),
		over("a position out of range is absent", `{'c[3].ip|exists': false}`, `[]`),
		over("plain items come before blocks", `{'c[any].ip': 8.8.8.8, 'c[0].p': udp}`,
			`[{"field":"c[0].p","value":"UDP"},{"field":"c[1].ip","value":"8.8.8.8"}]`),
		{Name: "any wants a member", Rules: rule3(`{'x[any]': a}`), Events: both(no(`{}`, `{"x":[]}`, `{"x":null}`), yes(`{"x":"a"}`, `{"x":["b","A"]}`))},
		{Name: "all wants a member, too", Rules: rule3(`{'x[all]': a}`), Events: both(no(`{}`, `{"x":[]}`, `{"x":["a","b"]}`), yes(`{"x":"a"}`, `{"x":["a","A"]}`))},
		{Name: "all_or_empty wants none", Rules: rule3(`{'x[all_or_empty]': a}`), Events: both(yes(`{}`, `{"x":[]}`, `{"x":"a"}`), no(`{"x":["a","b"]}`))},
		{Name: "none holds for want of members", Rules: rule3(`{'x[none]': a}`), Events: both(yes(`{}`, `{"x":[]}`, `{"x":["b"]}`), no(`{"x":"a"}`))},
		{Name: "a scalar is no array of one under a position", Rules: rule3(`{'x[0]': a}`), Events: both(no(`{"x":"a"}`), yes(`{"x":["a"]}`))},
		{
			Name: "the member itself is tested under a dot", Rules: rule3(`{'x[any]': {'.|gte': 500, '.|neq': 504}}`),
			Events: with(yes(`{"x":[502,504]}`), ``, `[{"field":"x[0]","value":502},{"field":"x[0]","value":502}]`),
		},
		{
			Name: "brackets are ordinary below version 3", Rules: rule(`{'args[0]': cmd}`),
			Events: both(yes(`{"args[0]":"cmd"}`), no(`{"args":["cmd"]}`)),
		},
		{
			Name: "and literal when escaped", Rules: rule3(`{'args\[0\]': cmd}`),
			Events: both(with(yes(`{"args[0]":"cmd"}`), ``, `[{"field":"args[0]","value":"cmd"}]`), no(`{"args":["cmd"]}`)),
		},
		{
			Name: "nested blocks print every position", Rules: rule3(`{'rules[any].ip[any]': x}`),
			Events: with(yes(`{"rules":[{"ip":["y","x"]},{"ip":"x"}]}`), ``, `[{"field":"rules[0].ip[1]","value":"x"},{"field":"rules[1].ip","value":"x"}]`),
		},
		{
			Name: "a path that fans out gives the members of all its arrays", Rules: rule3(`{'a.b[any]': x}`),
			Events: with(yes(`{"a":[{"b":["x"]},{"b":["y","x"]}]}`), ``, `[{"field":"a[0].b[0]","value":"x"},{"field":"a[1].b[1]","value":"x"}]`),
		},
		{
			Name: "fields of a member fan out like those of an event", Rules: rule3(`{'c[any].q.r': x}`),
			Events: with(yes(`{"c":[{"q":[{"r":"y"},{"r":"x"}]}]}`), ``, `[{"field":"c[0].q.r","value":["y","x"]}]`),
		},
		{
			Name: "a flat key of a member beats its path", Rules: rule3(`{'c[any].q.r': x}`),
			Events: both(yes(`{"c":[{"q.r":"x"}]}`), no(`{"c":[{"q.r":"y","q":{"r":"x"}}]}`)),
		},
		{
			Name: "fieldref in a body reads the whole event", Rules: rule3(`{'c[any].p|fieldref': want}`),
			Events: both(yes(`{"c":[{"p":"a"}],"want":"A"}`), no(`{"c":[{"p":"a","want":"a"}]}`)),
		},
		{
			Name: "a list of scalars in a body searches the member", Rules: rule3(`{'c[any]': {condition: s, s: [foo, bar]}}`),
			Events: both(yes(`{"c":["x","a foo"]}`), no(`{"c":["x"],"d":"foo"}`)),
		},
		{
			Name: "at most sixteen members are told", Rules: rule3(`{'x[any]': a}`),
			Events: with(yes(`{"x":["a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a"]}`), ``,
				`[{"field":"x[0]","value":"a"},{"field":"x[1]","value":"a"},{"field":"x[2]","value":"a"},{"field":"x[3]","value":"a"},{"field":"x[4]","value":"a"},{"field":"x[5]","value":"a"},{"field":"x[6]","value":"a"},{"field":"x[7]","value":"a"},`+
					`{"field":"x[8]","value":"a"},{"field":"x[9]","value":"a"},{"field":"x[10]","value":"a"},{"field":"x[11]","value":"a"},{"field":"x[12]","value":"a"},{"field":"x[13]","value":"a"},{"field":"x[14]","value":"a"},{"field":"x[15]","value":"a"}]`),
		},
	}
}
