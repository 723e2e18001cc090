package client

import (
	"fmt"
	"strings"
)

// tokenLimit leaves room in the 64 KiB of headers that a daemon reads.
const tokenLimit = 60 << 10

// readToken returns the token that the text of a variable is. A blank text is none.
func readToken(variable, text string) (string, error) {
	if strings.TrimSpace(text) == "" {
		return "", nil
	}
	fault := ""
	switch trimmed := strings.TrimSpace(text); {
	case strings.HasSuffix(text, "\n") && strings.TrimRight(text, "\r\n") == trimmed && !strings.ContainsFunc(trimmed, isControl):
		fault = "ends with a line break, which belongs to the file that it was read from"
	case strings.ContainsFunc(text, isControl):
		fault = "holds control characters"
	case trimmed != text:
		fault = "begins or ends with a blank"
	case len(text) > tokenLimit:
		return "", fmt.Errorf("the token in %s has %d bytes; at most %d can be sent", variable, len(text), tokenLimit)
	default:
		return text, nil
	}
	return "", fmt.Errorf("the token in %s %s: set the variable to the token alone", variable, fault)
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }
