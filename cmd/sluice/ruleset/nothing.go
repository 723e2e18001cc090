package ruleset

import (
	"fmt"
	"strings"
)

// Nothing says why no rule is loaded.
func (r *Rules) Nothing() string {
	below := strings.Join(r.Roots, ", ")
	switch {
	case len(r.Rejected) > 0:
		return fmt.Sprintf("no rule is loaded, so nothing can match: documents below %s are rejected, and no other is there", below)
	case r.Excluded > 0:
		return fmt.Sprintf("no rule is loaded, so nothing can match: --min-level and --exclude-rule leave out all that is below %s", below)
	case r.Files == 0:
		return fmt.Sprintf("no rule is loaded, so nothing can match: below %s is no file whose name ends in .yml or .yaml; name the directory of your rules", below)
	}
	return fmt.Sprintf("no rule is loaded, so nothing can match: the files below %s hold no detection or correlation rule", below)
}
