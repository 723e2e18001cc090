package command

import (
	"github.com/urfave/cli/v2"

	routes "github.com/sluicehq/sluice/http/api"
)

// configOpenAPI prints what GET /api/v1/openapi.json of a daemon without profiles answers.
func (e *env) configOpenAPI(c *cli.Context) error {
	if f := c.String("output-format"); f != "" && f != formatJSON {
		e.fallback(c, f, "JSON")
	}
	document, err := routes.Document(false)
	if err != nil {
		return err
	}
	_, err = e.Out.Write(document)
	return err
}
