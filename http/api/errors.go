package api

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/sluicehq/sluice/actors/mailbox"
)

// writeRefusal answers for a question to an actor that failed with err. Any error
// but an *mailbox.Refusal is a 500 that does not show it.
func writeRefusal(w http.ResponseWriter, err error) {
	var refused *mailbox.Refusal
	if !errors.As(err, &refused) || refused.Status() == http.StatusInternalServerError {
		writeError(w, http.StatusInternalServerError, internalError)
		return
	}
	if seconds := refused.RetryAfter(); seconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
	}
	writeHint(w, refused.Status(), refused.Error(), refused.Hint())
}
