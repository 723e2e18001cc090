package auth

import (
	"strings"
	"testing"
)

func TestPermissionsHaveAResourceAndAnAction(t *testing.T) {
	for _, tc := range []struct {
		name, text, want string // a want that begins with ~ is part of the error
	}{
		{"concrete", "silences:write", "silences:write"},
		{"every kind of letter", "incident-bundles_2:re-ad_1", "incident-bundles_2:re-ad_1"},
		{"blanks around it do not matter", "\t silences:read \n", "silences:read"},
		{"everything", "*", "*:*"},
		{"everything, spelt out", "*:*", "*:*"},
		{"any resource", "*:read", "*:read"},
		{"any action", "silences:*", "silences:*"},
		{"upper case", "Silences:read", `~the resource "Silences" is neither`},
		{"upper case in the action", "silences:Read", `~the action "Read" is neither`},
		{"no colon", "a", "~the action is missing"},
		{"nothing", "", "~the action is missing"},
		{"an empty action", "a:", "~the action is empty"},
		{"an empty resource", ":b", "~the resource is empty"},
		{"two empty parts", ":", "~the resource is empty\nthe action is empty"},
		{"a second colon", "a:b:c", "~there is a second colon"},
		{"a part of a resource", "sil*:read", `~the resource "sil*" is neither`},
		{"a part of an action", "silences:re*", `~the action "re*" is neither`},
		{"two wildcards in one part", "**:read", `~the resource "**" is neither`},
		{"a question mark", "?:read", `~the resource "?" is neither`},
		{"a blank inside", "silences: read", `~the action " read" is neither`},
		{"a control character", "silences:re\x00ad", `~permission "silences:re\x00ad": the action "re\x00ad"`},
		{"a letter beyond ASCII", "silencés:read", `~the resource "silencés"`},
		{"bytes that are no text", "a\xff:read", `~the resource "a\xff"`},
		{"a wildcard and a part", "*:*:*", "~there is a second colon"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := parse(tc.text)
			if want, refused := strings.CutPrefix(tc.want, "~"); refused {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, %v, want an error with %q", got, err, want)
				}
			} else if err != nil || got.String() != want {
				t.Errorf("got %v, %v, want %s", got, err, want)
			}
		})
	}
}

func TestAGrantCoversWhatItNames(t *testing.T) {
	for _, tc := range []struct {
		name, grant, need string
		want              bool
	}{
		{"itself", "silences:read", "silences:read", true},
		{"no other action", "silences:write", "silences:read", false},
		{"no other resource", "silences:read", "incidents:read", false},
		{"no longer name", "incident:read", "incident-bundles:read", false},
		{"any action of its resource", "silences:*", "silences:write", true},
		{"its action of any resource", "*:read", "incident-bundles:read", true},
		{"only its action of any resource", "*:read", "silences:write", false},
		{"everything", "*", "reload:execute", true},
		{"everything needs everything", "*", "", true},
		{"any resource is not everything", "*:read", "", false},
		{"any action is not everything", "silences:*", "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			grant, err := parse(tc.grant)
			if err != nil {
				t.Fatal(err)
			}
			if got := grant.covers(required(tc.need)); got != tc.want {
				t.Errorf("%s covers %q: got %v, want %v", tc.grant, tc.need, got, tc.want)
			}
		})
	}
}
