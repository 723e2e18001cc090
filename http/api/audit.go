package api

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"

	"github.com/sluicehq/sluice/http/audit"
)

var auditRoutes = []route{{pattern: "/api/v1/audit", endpoints: get("audit:read", (*Resources).getAudit)}}

// Audit shows who changed what over the API. *audit.Trail is one.
type Audit interface {
	// Page returns a page of records, newest first.
	Page(q audit.Query) (audit.Page, error)
}

// The size of a page of the audit trail.
const (
	auditPage    = 100
	maxAuditPage = 1000
)

var auditOff = disabled("audit trail disabled", "--state-db switches it on, unless daemon.api.audit.enabled is false")

func (res *Resources) getAudit(w http.ResponseWriter, r *http.Request) {
	if res.Audit == nil {
		auditOff(res, w, r)
		return
	}
	q, err := auditQuery(r)
	if err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	page, err := res.Audit.Page(q)
	if err != nil {
		writeHint(w, http.StatusInternalServerError, "the audit trail cannot be read", "the log of the daemon says why")
		return
	}
	writeJSON(w, http.StatusOK, page)
}

func auditQuery(r *http.Request) (audit.Query, error) {
	q := audit.All()
	given, err := query(r, "limit", "offset", "since", "until")
	if err != nil {
		return q, err
	}
	limit, errLimit := unsigned(given, "limit", auditPage)
	offset, errOffset := unsigned(given, "offset", 0)
	since, errSince := seconds(given, "since", q.Since)
	until, errUntil := seconds(given, "until", q.Until)
	q.Limit, q.Offset, q.Since, q.Until = min(limit, maxAuditPage), offset, since, until
	return q, cmp.Or(errLimit, errOffset, errSince, errUntil)
}

// unsigned reads a parameter that is a number from 0 on. One that is too large to count
// with is as good as any large one.
func unsigned(given map[string]string, name string, absent int) (int, error) {
	text, ok := given[name]
	if !ok {
		return absent, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("query parameter '%s' must be an integer from 0 on", name)
	}
	return int(min(n, math.MaxInt)), nil
}

// seconds reads a parameter that is a time in Unix seconds.
func seconds(given map[string]string, name string, absent int64) (int64, error) {
	text, ok := given[name]
	if !ok {
		return absent, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("query parameter '%s' must be an integer, in Unix seconds", name)
	}
	return n, nil
}
