package command

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/cmd/sluice/client"
)

const sourcesPath = "/api/v1/sources"

// What stands for ids of sources in the usage of commands.
const (
	sourceID  = "SOURCE-ID"
	sourceIDs = sourceID + "..."
)

func (e *env) sourceCommands() []*cli.Command {
	return []*cli.Command{
		command("list", "list the dynamic sources", "", clientFlags(), e.sourceList),
		command("resolve", "have dynamic sources fetched now, all of them without an id", "["+sourceIDs+"]", clientFlags(), e.sourceResolve),
		command("invalidate", "have the daemon forget the last values of dynamic sources", sourceIDs, clientFlags(), e.sourceInvalidate),
	}
}

// listedSource is a source as the daemon lists it.
type listedSource struct {
	ID       string `json:"source_id"`
	Pipeline string `json:"pipeline"`
	Type     string `json:"type"`
	Refresh  string `json:"refresh"`
	Required bool   `json:"required"`
}

func (e *env) sourceList(c *cli.Context) error {
	header := []string{"ID", "TYPE", "REFRESH", "REQUIRED", "DECLARED IN"}
	return listed(e, c, sourcesPath, "sources", "source", header, func(_ *console, s *listedSource) ([]string, string) {
		return []string{s.ID, s.Type, s.Refresh, strconv.FormatBool(s.Required), strings.TrimPrefix(s.Pipeline, "external:")}, ""
	})
}

func (e *env) sourceResolve(c *cli.Context) error {
	return e.eachSource(c, func(cl *client.Client, id string) ([]byte, error) {
		path := sourcesPath + "/resolve"
		if id != "" {
			path += "/" + url.PathEscape(id)
		}
		return cl.Ask(c.Context, http.MethodPost, path, nil)
	}, "")
}

func (e *env) sourceInvalidate(c *cli.Context) error {
	if !c.Args().Present() {
		return configFaultf("name the source by its id (sluice sources list shows them)")
	}
	return e.eachSource(c, func(cl *client.Client, id string) ([]byte, error) {
		return cl.Ask(c.Context, http.MethodDelete, sourcesPath+"/cache/"+url.PathEscape(id), nil)
	})
}

// eachSource asks for every source that the command line names, or for those given when it
// names none, and prints the answers. One that is refused keeps no other back.
func (e *env) eachSource(c *cli.Context, ask func(cl *client.Client, id string) ([]byte, error), otherwise ...string) error {
	l, out, err := e.loadChecked(c, "")
	if err != nil {
		return err
	}
	cl, err := e.client(c, l, clientTimeout)
	if err != nil {
		return err
	}
	defer cl.Close()
	ids := otherwise
	if c.Args().Present() {
		ids = c.Args().Slice()
	}
	var faults []error
	for _, id := range ids {
		if id == "" && c.Args().Present() {
			faults = append(faults, errors.New("the id of the source is empty"))
			continue
		}
		answer, err := ask(cl, id)
		if err == nil {
			err = out.writeAnswer(answer)
		}
		if isClosedPipe(err) {
			return err
		}
		faults = append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		return configFault(err)
	}
	return nil
}
