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

// Correlations shows the correlation rules and their state, as it is between
// two events.
type Correlations interface {
	// List describes the rules in load order.
	List(ctx context.Context) ([]correlation.Entry, error)
	// State describes the rules and the groups that f lets through, groups
	// sorted by the index of their rule and then by their displayed key. count is
	// how many groups there are beyond what f asks for of them.
	State(ctx context.Context, f CorrelationFilter) (rules []correlation.Entry, groups iter.Seq[correlation.GroupEntry], count int, err error)
}

// CorrelationFilter selects correlations and groups; a nil member selects all.
type CorrelationFilter struct {
	ID    *string // id, name or title, exactly
	Group *string // part of the displayed key

	Offset   int  // groups passed over
	Limit    int  // groups at most; 0 is all
	NoWindow bool // leaves the entries of groups out
}

type correlationList struct {
	Correlations []correlation.Entry `json:"correlations"`
	Count        int                 `json:"count"`
}

// noCorrelations stands in for a daemon that keeps none.
type noCorrelations struct{}

func (noCorrelations) List(context.Context) ([]correlation.Entry, error) { return nil, nil }

func (noCorrelations) State(context.Context, CorrelationFilter) ([]correlation.Entry, iter.Seq[correlation.GroupEntry], int, error) {
	return nil, slices.Values[[]correlation.GroupEntry](nil), 0, nil
}

func (res *Resources) correlations() Correlations {
	if res.Correlations == nil {
		return noCorrelations{}
	}
	return res.Correlations
}

func (res *Resources) getCorrelations(w http.ResponseWriter, r *http.Request) {
	views, err := res.correlations().List(r.Context())
	if err != nil {
		writeRefusal(w, err)
		return
	}
	writeJSON(w, http.StatusOK, correlationList{present(views), len(views)})
}

func (res *Resources) getCorrelationState(w http.ResponseWriter, r *http.Request) {
	f, err := correlationFilter(r)
	if err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	views, groups, count, err := res.correlations().State(r.Context(), f)
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

func correlationFilter(r *http.Request) (f CorrelationFilter, err error) {
	given, err := query(r, "id", "group", "offset", "limit", "window")
	if err != nil {
		return f, err
	}
	if id, ok := given["id"]; ok {
		f.ID = &id
	}
	if group, ok := given["group"]; ok {
		f.Group = &group
	}
	for name, to := range map[string]*int{"offset": &f.Offset, "limit": &f.Limit} {
		text, ok := given[name]
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil || name == "limit" && n == 0 {
			return f, fmt.Errorf("query parameter '%s' is no number of groups: %q", name, text)
		}
		*to = int(n)
	}
	switch text, ok := given["window"]; {
	case !ok || text == "true":
	case text == "false":
		f.NoWindow = true
	default:
		return f, fmt.Errorf("query parameter 'window' is neither true nor false: %q", text)
	}
	return f, nil
}

// present makes an absent list an empty one: null is no list.
func present[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
