package api

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"

	"github.com/sluicehq/sluice/http/audit"
	"github.com/sluicehq/sluice/http/openapi"
	"github.com/sluicehq/sluice/http/reply"
)

var auditRoutes = []route{{pattern: "/api/v1/audit", endpoints: get("audit:read", (*Resources).getAudit, listAudit)}}

var listAudit = operation{
	id: "listAudit", summary: "List recorded changes",
	text: "Who changed what over the API, and with which outcome.",
	query: []openapi.Parameter{
		param("limit", fmt.Sprintf("How many entries to list; more than %d are as many.", maxAuditPage), atLeast(auditPage, 0)),
		param("offset", "How many entries to leave out.", atLeast(0, 0)),
		param("since", "Only entries from this time on, in Unix seconds.", number(nil, math.MinInt64, math.MaxInt64)),
		param("until", "Only entries up to this time, in Unix seconds.", number(nil, math.MinInt64, math.MaxInt64)),
	},
	answers: []openapi.Answer{
		replies(http.StatusOK, audit.Page{}, "The entries, newest first."),
		fails(http.StatusInternalServerError, "The state database cannot be read. The log has the details.", auditUnreadable),
		off(auditDisabled),
	},
}

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

const (
	auditDisabled   = "audit trail disabled"
	auditUnreadable = "the audit trail cannot be read"
)

var auditOff = disabled(auditDisabled, "--state-db switches it on, unless daemon.api.audit.enabled is false")

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
		writeHint(w, http.StatusInternalServerError, auditUnreadable, "the log of the daemon says why")
		return
	}
	reply.JSON(w, http.StatusOK, page)
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
