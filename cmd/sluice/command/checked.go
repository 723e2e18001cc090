package command

import "github.com/sluicehq/sluice/cmd/sluice/config"

// checked prints the warnings of checks and gives their error its exit code.
func (e *env) checked(warnings config.Problems, err error) error {
	for _, w := range warnings {
		e.warn(w.Error())
	}
	if err != nil {
		return configFault(err)
	}
	return nil
}
