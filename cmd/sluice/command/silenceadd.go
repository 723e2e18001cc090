package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/user"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/cmd/sluice/client"
	"github.com/sluicehq/sluice/cmd/sluice/silences"
	"github.com/sluicehq/sluice/cmd/sluice/terminal"
	"github.com/sluicehq/sluice/graph/alert/silence"
	"github.com/sluicehq/sluice/graph/selector"
)

func (e *env) silenceAdd(c *cli.Context) error {
	l, out, err := e.loadChecked(c, "")
	if err != nil {
		return err
	}
	spec, err := e.newSilence(c)
	if err != nil {
		return configFault(err)
	}
	cl, err := e.client(c, l, clientTimeout)
	if err != nil {
		return err
	}
	defer cl.Close()
	group := silences.Group{{Of: "results"}}
	if c.IsSet("incident") {
		if group, err = ofIncident(c, cl); err != nil {
			return configFault(err)
		}
	}
	doubts := strangers(c, cl)
	for i, part := range group {
		one := spec
		one.Matchers = slices.Concat(spec.Matchers, part.Matchers)
		if err := addSilence(c, cl, out, one, part.Of); err != nil {
			if i > 0 && !isClosedPipe(err) && !errors.Is(err, errWrite) {
				err = configFault(fmt.Errorf("%d of the %d silences of the incident are made, as is told above: %w", i, len(group), err))
			}
			return err
		}
	}
	for _, doubt := range doubts {
		out.note("warning: %s", terminal.Printable(doubt))
	}
	return nil
}

// newSilence is the silence that the flags and arguments describe, without the matchers of an
// incident.
func (e *env) newSilence(c *cli.Context) (spec silence.Spec, err error) {
	start, end, err := silences.Span{For: c.String("for"), From: c.String("from"), Until: c.String("until")}.Times(time.Now())
	if err != nil {
		return spec, err
	}
	spec = silence.Spec{StartsAt: silences.Instant(start), EndsAt: silences.Instant(end), Comment: c.String("comment"), CreatedBy: userName()}
	if c.IsSet("created-by") {
		spec.CreatedBy = c.String("created-by")
	}
	for _, text := range c.Args().Slice() {
		m, err := silences.ParseMatcher(text)
		if err != nil {
			return spec, err
		}
		spec.Matchers = append(spec.Matchers, m)
	}
	more, err := e.ofResult(c)
	if err != nil {
		return spec, err
	}
	spec.Matchers = append(spec.Matchers, more...)
	if len(spec.Matchers) == 0 && !c.IsSet("incident") {
		return spec, errors.New("a silence needs a matcher, such as rule=RULE or 'match.User=~\"adm.*\"', or --incident or --result")
	}
	return spec, nil
}

// ofIncident asks for the incident of --incident.
func ofIncident(c *cli.Context, cl *client.Client) (silences.Group, error) {
	path := incidentPath(c.String("incident"))
	snapshot, err := cl.Ask(c.Context, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	group, err := silences.OfIncident(snapshot)
	if err != nil {
		return nil, cl.Unreadable(http.MethodGet, path, err)
	}
	return group, nil
}

// addSilence makes a silence of what is named by what, and tells of it.
func addSilence(c *cli.Context, cl *client.Client, out *console, spec silence.Spec, what string) error {
	answer, made, err := makeSilence(c, cl, spec)
	if err != nil {
		return configFault(err)
	}
	verb := "mutes"
	if made.Warning != "" {
		verb = "is made for"
	}
	out.note("silence %s %s %s: %s", made.ID, verb, what, terminal.Printable(silences.FormatMatchers(spec.Matchers)))
	made.warn(out)
	if spec.EndsAt == "" {
		out.note("warning: it has no end (sluice silence expire %s ends it)", made.ID)
	} else {
		out.note("it ends at %s", spec.EndsAt)
	}
	return out.writeAnswer(answer)
}

// ofResult returns matchers for results such as that of --result.
func (e *env) ofResult(c *cli.Context) ([]selector.Condition, error) {
	fields := repeated(c, "match")
	if !c.IsSet("result") {
		if len(fields) > 0 {
			return nil, errors.New("--match names fields of the result of --result")
		}
		return nil, nil
	}
	line, err := firstLine(e.In, c.String("result"))
	if err != nil {
		return nil, fmt.Errorf("--result: %w", err)
	}
	matchers, err := silences.OfResult(line, fields)
	if err != nil {
		return nil, fmt.Errorf("--result: %w", err)
	}
	return matchers, nil
}

// maxResult bounds the line of a result.
const maxResult = 16 << 20

// firstLine is the first line of a file that is not blank; - is standard input.
func firstLine(stdin io.Reader, name string) ([]byte, error) {
	from := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		from = f
	}
	text, err := io.ReadAll(io.LimitReader(from, maxResult))
	if err != nil {
		return nil, err
	}
	line, _, _ := bytes.Cut(bytes.TrimSpace(text), []byte("\n"))
	if len(line) == 0 {
		return nil, fmt.Errorf("%s holds no result", name)
	}
	return bytes.TrimSpace(line), nil
}

// madeSilence is what the daemon says of a silence that it has made.
type madeSilence struct{ ID, Warning string }

// warn says why the silence mutes nothing, if it does not.
func (m *madeSilence) warn(out *console) {
	if m.Warning != "" {
		out.note("warning: %s", m.Warning)
	}
}

// makeSilence asks for a silence and returns the answer and what is in it.
func makeSilence(c *cli.Context, cl *client.Client, spec silence.Spec) (answer []byte, made madeSilence, err error) {
	body, err := json.Marshal(spec)
	if err != nil {
		return nil, made, err
	}
	if answer, err = cl.Ask(c.Context, http.MethodPost, silencesPath, body); err != nil {
		return nil, made, err
	}
	if err := json.Unmarshal(answer, &made); err != nil || made.ID == "" {
		return nil, made, cl.Unreadable(http.MethodPost, silencesPath, errors.Join(errors.New("no id"), err))
	}
	return answer, madeSilence{terminal.Printable(made.ID), terminal.Printable(made.Warning)}, nil
}

// userName is who runs the command, empty when nobody can tell.
func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return os.Getenv("USER")
}
