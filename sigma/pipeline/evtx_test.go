package pipeline_test

import (
	"fmt"
	"testing"
)

func TestPlacesFollowLaterRenamings(t *testing.T) {
	for _, tc := range []struct{ name, item, want string }{
		{"a prefix moves every path", `{type: field_name_prefix, prefix: p.}`, "p.Event.EventData.User [p.Event.EventData.User p.Event.UserData.*.User]"},
		{"a mapping of the first path makes one field", `{type: field_name_mapping, mapping: {Event.EventData.User: user}}`, "user []"},
		{"a mapping of a further path does nothing", `{type: field_name_mapping, mapping: {"Event.UserData.*.User": u}}`, "Event.EventData.User [Event.EventData.User Event.UserData.*.User]"},
		{
			"conditions go by the first path", `{type: field_name_suffix, suffix: _s, field_name_conditions: [{type: include_fields, fields: [Event.EventData.User]}]}`,
			"Event.EventData.User_s [Event.EventData.User_s Event.UserData.*.User_s]",
		},
	} {
		rules := ruleWith(`sel: {User: ann}, condition: sel`) +
			"---\ntitle: C\ncorrelation: {type: event_count, rules: [r], group-by: [User], timespan: 5m, condition: {gte: 1}}\n"
		c := loadWith(t, set(t, "@windows_evtx", items(tc.item)), rules)
		it := c.Rules[0].Detections[0].Node.Items[0]
		if got := fmt.Sprint(it.Field, " ", it.Paths); got != tc.want {
			t.Errorf("%s: the item is read from %s, want %s", tc.name, got, tc.want)
		}
		by := c.Correlations[0].GroupBy[0]
		if got := fmt.Sprint(by, " ", c.Correlations[0].Paths[by]); got != tc.want {
			t.Errorf("%s: the group is read from %s, want %s", tc.name, got, tc.want)
		}
	}
}
