package mailbox

import "testing"

func TestRefusals(t *testing.T) {
	for _, tc := range []struct {
		reason error
		text   string
	}{
		{ErrFull, "control mailbox of 'alert' is full"},
		{ErrTimeout, "actor 'alert' did not answer in time"},
		{ErrStopped, "shutting down"},
		{ErrPanicked, "internal error"},
		{ErrReply, "internal error"},
	} {
		if got := (&Refusal{Actor: "alert", Reason: tc.reason}).Error(); got != tc.text {
			t.Errorf("%v: got %q, want %q", tc.reason, got, tc.text)
		}
	}
}
