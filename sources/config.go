package sources

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/sluicehq/sluice/internal/suggest"
)

// Check reports a name of an input that nothing can read, or that this build
// cannot.
func Check(name string) error {
	u, err := url.Parse(name)
	switch {
	case name == "stdin" || name == "stdin://" || name == "http":
		return nil
	case err == nil && u.Scheme == "nats" && u.Port() != "" && u.Hostname() != "" && len(u.Path) > 1,
		err == nil && u.Scheme == "unix" && u.Host == "" && len(u.Path) > 1:
		return fmt.Errorf("%q is not in this build (stdin, http)", name)
	}
	scheme, _, _ := strings.Cut(name, "://")
	return suggest.Wrap(fmt.Errorf("%q is no input (stdin, http, nats://host:port/subject, unix:///path)", name), scheme, []string{"stdin", "http"})
}
