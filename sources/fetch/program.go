package fetch

import (
	"bytes"
	"context"
	"errors"

	"github.com/sluicehq/sluice/internal/command"
)

// command runs a program and returns its standard output.
func (c *Client) command(ctx context.Context, d *Declaration) ([]byte, error) {
	out, err := command.Run(ctx, command.Options{Argv: d.Argv, MaxStdout: d.MaxStdout})
	var limit *command.LimitError
	switch {
	case errors.As(err, &limit):
		return nil, fault(ResourceLimit, "%s", err)
	case err != nil:
		return nil, err
	}
	if said := bytes.TrimSpace(out.Stderr); len(said) > 0 {
		c.log.Debug("the command wrote to standard error", "source", d.ID, "command", d.Argv[0], "stderr", string(said))
	}
	return out.Stdout, nil
}
