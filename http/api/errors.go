package api

import (
	"errors"
	"net/http"

	"github.com/sluicehq/sluice/actors/mailbox"
)

// writeRefusal answers for a question to an actor that failed with err. Any error
// but a *mailbox.Refusal is a 500 that does not show it.
func writeRefusal(w http.ResponseWriter, err error) {
	var refused *mailbox.Refusal
	if !errors.As(err, &refused) {
		writeError(w, http.StatusInternalServerError, internalError)
		return
	}
	var hint string
	switch {
	case errors.Is(refused.Reason, mailbox.ErrFull):
		w.Header().Set("Retry-After", "1")
		hint = "Too many requests wait for this actor; try again in a second."
	case errors.Is(refused.Reason, mailbox.ErrTimeout):
		hint = "The actor is busy or restarting; see GET /api/v1/actors/" + refused.Actor + "."
	case errors.Is(refused.Reason, mailbox.ErrStopped):
		hint = "The daemon is draining; ask the instance that takes over."
	default:
		writeError(w, http.StatusInternalServerError, internalError)
		return
	}
	writeHint(w, http.StatusServiceUnavailable, refused.Error(), hint)
}
