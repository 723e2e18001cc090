package command

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/cmd/sluice/shell"
	"github.com/sluicehq/sluice/cmd/sluice/silences"
)

// idsMost is how many ids a completion lists.
const idsMost = 200

var errEnough = errors.New("enough")

// ids asks a daemon for the ids that begin with a text, of silences, incidents or sources.
// The words before name the command and perhaps the daemon. Nobody can be told of a fault, so
// there are none then, or fewer.
func (e *env) ids(kind string, before []string, begin string) (all []shell.Word) {
	path, list, word := silencesPath, "silences", silenceWord
	switch kind {
	case silenceID:
	case incidentID:
		path, list, word = incidentsPath, "incidents", incidentWord
	case sourceID:
		path, list, word = sourcesPath, "sources", sourceWord
	default:
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), e.patience)
	defer cancel()
	asking := &env{Streams: Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}}
	app := asking.app()
	names, _, _, _ := shell.Find(app, before)
	leaf := shell.At(app.Commands, names)
	if leaf == nil {
		return nil
	}
	leaf.Action = func(c *cli.Context) error {
		l, _, err := asking.loadChecked(c, "")
		if err != nil {
			return err
		}
		cl, err := asking.client(c, l, e.patience)
		if err != nil {
			return err
		}
		defer cl.Close()
		return cl.Each(c.Context, path, list, func(entry json.RawMessage) error {
			if len(all) == idsMost {
				return errEnough
			}
			if w, ok := word(entry); ok && strings.HasPrefix(w.Text, begin) {
				all = append(all, w)
			}
			return nil
		})
	}
	_ = app.RunContext(ctx, shell.Arrange(app, append([]string{app.Name}, before...)))
	return all
}

func silenceWord(entry json.RawMessage) (shell.Word, bool) {
	var s listedSilence
	err := json.Unmarshal(entry, &s)
	return shell.Word{Text: s.ID, About: s.State + " " + silences.FormatMatchers(s.Matchers)}, err == nil && s.ID != ""
}

func incidentWord(entry json.RawMessage) (shell.Word, bool) {
	var in listedIncident
	err := json.Unmarshal(entry, &in)
	return shell.Word{Text: in.ID, About: strings.TrimSpace(in.MaxLevel + " " + in.of())}, err == nil && in.ID != ""
}

func sourceWord(entry json.RawMessage) (shell.Word, bool) {
	var s listedSource
	err := json.Unmarshal(entry, &s)
	return shell.Word{Text: s.ID, About: s.Type + " " + s.Refresh}, err == nil && s.ID != ""
}
