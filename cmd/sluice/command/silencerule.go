package command

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/cmd/sluice/client"
	"github.com/sluicehq/sluice/cmd/sluice/silences"
	"github.com/sluicehq/sluice/graph/selector"
)

// strangers says of each rule that arguments name which no rule of the daemon is, and what
// may have been meant. A daemon that does not tell its rules is not asked twice.
func strangers(c *cli.Context, cl *client.Client) (doubts []string) {
	for _, text := range c.Args().Slice() {
		m, err := silences.ParseMatcher(text)
		if err != nil || m.Selector != "rule" || m.Op != selector.Equal || m.Value == "" {
			continue
		}
		path := ruleListPath + "?" + url.Values{"q": {m.Value}, "limit": {"1000"}}.Encode()
		answer, err := cl.Ask(c.Context, http.MethodGet, path, nil)
		var list struct {
			Items []listedRule
			Total int
		}
		if err != nil || json.Unmarshal(answer, &list) != nil || len(list.Items) < list.Total {
			return doubts
		}
		if doubt := stranger(m.Value, list.Items); doubt != "" {
			doubts = append(doubts, doubt)
		}
	}
	return doubts
}

// stranger is the doubt about the name of a rule, empty when one of the rules has it.
func stranger(name string, rules []listedRule) string {
	var ids []string
	for _, r := range rules {
		switch {
		case r.ID == name, r.ID == "" && r.Title == name:
			return ""
		case r.Title == name:
			ids = append(ids, r.ID)
		}
	}
	if len(ids) > 0 {
		return fmt.Sprintf("no rule has the id %q, which is a title: write rule=%s", name, strings.Join(ids, " or rule="))
	}
	return fmt.Sprintf("no rule has the id %q (sluice engine rules lists them)", name)
}
