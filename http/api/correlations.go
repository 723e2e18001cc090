package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"

	"github.com/sluicehq/sluice/sigma/correlation"
)

var correlationRoutes = []route{
	{pattern: "/api/v1/correlations", endpoints: get("correlations:read", (*Resources).getCorrelations)},
	{pattern: "/api/v1/correlations/state", endpoints: get("correlations:read", (*Resources).getCorrelationState)},
}

// Correlations shows the correlation rules and their state, as it is between
// two events. *correlate.Client is one.
type Correlations interface {
	// List describes the rules in load order.
	List(ctx context.Context) ([]correlation.Entry, error)
	// State describes the rules and the groups that f accepts, groups sorted by the
	// index of their rule and then by their displayed key. count is the number of
	// groups before f's Offset and Limit.
	State(ctx context.Context, f correlation.Filter) (rules []correlation.Entry, groups iter.Seq[correlation.GroupEntry], count int, err error)
}

type correlationList struct {
	Correlations []correlation.Entry `json:"correlations"`
	Count        int                 `json:"count"`
}

func (res *Resources) getCorrelations(w http.ResponseWriter, r *http.Request) {
	views, err := res.Correlations.List(r.Context())
	if err != nil {
		writeRefusal(w, err)
		return
	}
	writeJSON(w, http.StatusOK, correlationList{present(views), len(views)})
}

func (res *Resources) getCorrelationState(w http.ResponseWriter, r *http.Request) {
	f, none, err := correlationFilter(r)
	if err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	if none {
		writeCorrelationState(w, []correlation.Entry{}, slices.Values[[]correlation.GroupEntry](nil), 0)
		return
	}
	views, groups, count, err := res.Correlations.State(r.Context(), f)
	if err != nil {
		writeRefusal(w, err)
		return
	}
	writeCorrelationState(w, present(views), groups, count)
}

// writeCorrelationState sends groups as they come: there may be very many. A
// client that has left gets no more of them.
func writeCorrelationState(w http.ResponseWriter, views []correlation.Entry, groups iter.Seq[correlation.GroupEntry], count int) {
	w.Header().Set("Content-Type", typeJSON)
	out := bufio.NewWriterSize(w, 64<<10)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	send := func(before string, v any) (ok bool) {
		b.Reset()
		b.WriteString(before)
		err := enc.Encode(v)
		if err == nil {
			_, err = out.Write(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
		}
		return err == nil
	}
	if !send(`{"correlations":`, views) {
		return
	}
	before := `,"groups":[`
	for g := range groups {
		if !send(before, &g) {
			return
		}
		before = ","
	}
	if before != "," {
		_, _ = out.WriteString(before) // an error stays with the writer
	}
	if send(`],"count":`, count) {
		_, _ = out.WriteString("}\n")
		_ = out.Flush()
	}
}

// correlationFilter reads the query. none reports an empty id, which no
// correlation has.
func correlationFilter(r *http.Request) (f correlation.Filter, none bool, err error) {
	given, err := query(r, "id", "group", "offset", "limit", "window")
	if err != nil {
		return f, false, err
	}
	id, ok := given["id"]
	none = ok && id == ""
	f.ID, f.Group = id, given["group"]
	for name, to := range map[string]*int{"offset": &f.Offset, "limit": &f.Limit} {
		text, ok := given[name]
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil || name == "limit" && n == 0 {
			return f, false, fmt.Errorf("query parameter '%s' is no number of groups: %q", name, text)
		}
		*to = int(n)
	}
	switch text, ok := given["window"]; {
	case !ok || text == "true":
	case text == "false":
		f.NoWindow = true
	default:
		return f, false, fmt.Errorf("query parameter 'window' is neither true nor false: %q", text)
	}
	return f, none, nil
}
