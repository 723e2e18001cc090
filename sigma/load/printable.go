package load

import (
	"fmt"
	"strings"

	"github.com/sluicehq/sluice/sigma/ast"
)

// maxReason is how many bytes of a reason are told.
const maxReason = 1024

// readable shortens a reason, and writes control characters of the rule file so that
// no terminal obeys them.
func readable(reason string) string {
	if len(reason) > maxReason {
		cut := maxReason
		for cut > 0 && reason[cut]&0xC0 == 0x80 {
			cut--
		}
		reason = fmt.Sprintf("%s... (%d bytes in all)", reason[:cut], len(reason))
	}
	return ast.Printable(strings.ToValidUTF8(reason, "\uFFFD"))
}
