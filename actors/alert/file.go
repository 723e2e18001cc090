package alert

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/graph/alert"
	"github.com/sluicehq/sluice/internal/strict"
	"github.com/sluicehq/sluice/internal/suggest"
)

// File is the file of the alert pipeline. A nil File is none.
type File struct {
	path    string
	log     *slog.Logger
	sum     [sha256.Size]byte // of the content that serves
	serving *alert.File
}

// Check reads the file of an alert pipeline. Warnings and faults have their lines.
func Check(path string) (warnings, faults []strict.Fault) {
	_, _, warnings, faults = read(path)
	return warnings, faults
}

// Load reads the file that the pipeline begins with. An empty path is none. The error names
// each fault with its line.
func Load(path string, log *slog.Logger) (*File, error) {
	if path == "" {
		return nil, nil
	}
	data, parsed, _, faults := read(path) // whoever starts has told the warnings
	if len(faults) > 0 {
		return nil, join(path, faults)
	}
	return &File{path: path, log: log, sum: sha256.Sum256(data), serving: parsed}, nil
}

func read(path string) (data []byte, parsed *alert.File, warnings, faults []strict.Fault) {
	data, err := strict.Bytes(path)
	if err != nil {
		return nil, nil, nil, []strict.Fault{{Err: fmt.Errorf("the file cannot be read: %w", err)}}
	}
	parsed, warnings, faults = alert.Parse(data)
	return data, parsed, warnings, faults
}

// join makes one error of the faults of a file, a line for each.
func join(path string, faults []strict.Fault) error {
	var all []error
	for _, fault := range faults {
		place, behind := path, ""
		if fault.Line > 0 {
			place += ":" + strconv.Itoa(fault.Line)
		}
		var near *suggest.Error
		if errors.As(fault, &near) && near.Suggestion != "" {
			behind = " (" + near.Suggestion + ")"
		}
		all = append(all, fmt.Errorf("%s: %w%s", place, fault, behind))
	}
	return errors.Join(all...)
}

// Parsed is what the file says that serves, nil without a file.
func (f *File) Parsed() *alert.File {
	if f == nil {
		return nil
	}
	return f.serving
}

// Paths are the files whose change asks for a reload.
func (f *File) Paths() []string {
	if f == nil {
		return nil
	}
	return []string{f.path}
}

// Watched is a component of which the file is watched, before it is first read. The row of the
// stage has what a reload does with it.
func Watched(path string) []actors.Component {
	if path == "" {
		return nil
	}
	return []actors.Component{{Name: componentName, Paths: (&File{path: path}).Paths}}
}

// componentName is the name of what a reload renews.
const componentName = "alert pipeline"

// component is what a reload renews. An unchanged file has its silences applied again.
// client is asked when there is something to publish.
func (f *File) component(client *Client) actors.Component {
	return actors.Component{
		Name: componentName, Paths: f.Paths,
		Build: func(context.Context) (func(context.Context) error, error) {
			data, parsed, warnings, faults := read(f.path)
			if len(faults) > 0 {
				return nil, join(f.path, faults)
			}
			sum := sha256.Sum256(data)
			if bytes.Equal(sum[:], f.sum[:]) {
				return nil, actors.ErrUnchanged
			}
			for _, w := range warnings {
				f.log.Warn("alert pipeline", "file", f.path, "line", w.Line, "reason", w.Error())
			}
			return func(ctx context.Context) error {
				if err := client.configure(ctx, parsed); err != nil {
					return err
				}
				f.sum, f.serving = sum, parsed
				return nil
			}, nil
		},
		Unchanged: client.renew,
	}
}
