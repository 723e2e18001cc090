package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"net/http"
	"slices"
	"strconv"

	"github.com/sluicehq/sluice/http/openapi"
	"github.com/sluicehq/sluice/http/reply"
	"github.com/sluicehq/sluice/sigma/correlation"
)

var correlationRoutes = []route{
	{pattern: "/api/v1/correlations", endpoints: get("correlations:read", (*Resources).getCorrelations, listCorrelations)},
	{pattern: "/api/v1/correlations/state", endpoints: get("correlations:read", (*Resources).getCorrelationState, listCorrelationState)},
}

var (
	listCorrelations = operation{
		id: "listCorrelations", summary: "List the correlation rules", asks: true,
		answers: []openapi.Answer{replies(http.StatusOK, correlationList{}, "The rules in the order in which they were loaded.")},
	}
	listCorrelationState = operation{
		id: "listCorrelationState", summary: "Show the window of every group of a correlation", asks: true,
		text: "How far each group is from firing, and when it is forgotten. The answer is made page by page while it is read; a group that lives all the while is in it once.",
		query: []openapi.Parameter{
			param("id", "Only the correlation with this id, name or title.", text()),
			param("group", "Only groups whose displayed key contains this text.", text()),
			param("offset", "How many groups to leave out.", number(nil, 0, math.MaxInt32)),
			param("limit", "How many groups to list; all when absent.", number(nil, 1, math.MaxInt32)),
			param("window", "Whether to list what the windows hold.", boolean(true)),
		},
		answers: []openapi.Answer{replies(http.StatusOK, correlationState{}, "The groups, by correlation and then by their displayed key.")},
	}
)

// correlationState is what the pages of getCorrelationState add up to.
type correlationState struct {
	Correlations []correlation.Entry `json:"correlations"`
	Groups       []describedGroup    `json:"groups"`
	Count        int                 `json:"count" doc:"Groups that pass id and group, before offset and limit"`
}

// describedGroup is what correlation.GroupEntry looks like.
type describedGroup struct {
	correlation.GroupEntry
	Window *describedWindow `json:"window,omitempty" doc:"What the window holds, in one member that says of which kind it is"`
}

// describedWindow is what correlation.WindowEntries looks like.
type describedWindow struct {
	EventCount *struct {
		Timestamps []int64 `json:"timestamps" doc:"Seconds since 1970 that hold entries, each once"`
		Counts     []int64 `json:"counts,omitempty" doc:"Entries of each second; absent when each holds one"`
	} `json:"EventCount,omitempty"`
	ValueCount *struct {
		Entries [][2]any `json:"entries" doc:"Second and counted value of each entry"`
	} `json:"ValueCount,omitempty"`
	NumericAgg *struct {
		Entries [][2]float64 `json:"entries" doc:"Second and number of each entry"`
	} `json:"NumericAgg,omitempty"`
	Temporal *struct {
		RuleHits map[string][]int64 `json:"rule_hits" doc:"Seconds that hold entries, by rule"`
		Counts   map[string][]int64 `json:"counts,omitempty" doc:"Entries of each second, for rules of which a second holds several"`
	} `json:"Temporal,omitempty"`
}

// Correlations shows the correlation rules and their state, as it is between
// two events. *correlate.Client is one.
type Correlations interface {
	// List describes the rules in load order.
	List(ctx context.Context) ([]correlation.Entry, error)
	// State describes the rules and the groups that f accepts, groups sorted by the
	// index of their rule and then by their displayed key. count is the number of
	// groups before f's Offset and Limit. Behind f's After there are only the groups.
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
	reply.JSON(w, http.StatusOK, correlationList{present(views), len(views)})
}

// A page of groups is what is in memory at once for a client: it ends at whichever
// comes first, or at a window with more than pageEntries.
const (
	pageGroups  = 4096
	pageBytes   = 1 << 20
	pageEntries = 512
)

// getCorrelationState sends page after page, each of the state as it is when the
// client has taken the one before: a client that does not read holds none of it. A
// group that lives all the while is listed once. count is that of the beginning.
func (res *Resources) getCorrelationState(w http.ResponseWriter, r *http.Request) {
	f, none, err := correlationFilter(r)
	if err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	page := &statePage{filter: f, left: f.Limit, capacity: pageGroups}
	if f.Limit == 0 {
		page.left = math.MaxInt
	}
	state := res.Correlations
	if none {
		state = noCorrelations{}
	}
	if err := page.next(r.Context(), state); err != nil {
		writeRefusal(w, err)
		return
	}
	w.Header().Set("Content-Type", typeJSON)
	for page.writeTo(w) == nil && !page.last {
		if err := page.next(r.Context(), state); err != nil {
			panic(http.ErrAbortHandler) // half of the answer is out
		}
	}
}

// noCorrelations are those with an empty id.
type noCorrelations struct{ Correlations }

func (noCorrelations) State(context.Context, correlation.Filter) ([]correlation.Entry, iter.Seq[correlation.GroupEntry], int, error) {
	return nil, slices.Values[[]correlation.GroupEntry](nil), 0, nil
}

// statePage is one page of the answer after the other.
type statePage struct {
	bytes.Buffer
	window   io.WriterTo        // of the page's last group, when it is long
	filter   correlation.Filter // of the page to come
	left     int                // groups to send
	capacity int                // groups that may fit into the page to come: twice what the last one had
	count    int                // groups that pass, at the beginning
	before   string             // what stands before the next group
	last     bool
}

// writeTo sends the page. A long window is made while it is sent: what is in memory
// for a client that does not read is a page and the state of one group.
func (p *statePage) writeTo(w io.Writer) error {
	_, err := w.Write(p.Bytes())
	if err == nil && p.window != nil {
		_, err = p.window.WriteTo(w)
	}
	return err
}

// next makes the page that follows.
func (p *statePage) next(ctx context.Context, state Correlations) error {
	p.Reset()
	if p.window != nil {
		p.WriteByte('}') // the group it was of
		p.window = nil
	}
	if p.left > 0 {
		if more, err := p.groups(ctx, state); more || err != nil {
			return err
		}
	}
	p.last = true
	if p.before != "," {
		p.WriteString(p.before)
	}
	err := p.append(`],"count":`, p.count)
	p.WriteString("}\n")
	return err
}

// groups makes the groups of a page and reports whether there may be more.
func (p *statePage) groups(ctx context.Context, state Correlations) (more bool, err error) {
	p.filter.Limit = min(p.left, pageGroups, p.capacity)
	views, groups, count, err := state.State(ctx, p.filter)
	if err != nil {
		return false, err
	}
	if p.before == "" {
		err = p.append(`{"correlations":`, present(views))
		p.before, p.count = `,"groups":[`, count
	}
	made := 0
	for g := range groups {
		err = errors.Join(err, p.group(&g))
		place := g.Place()
		p.filter.After, p.filter.Offset = &place, 0
		if made++; made == p.filter.Limit || p.Len() >= pageBytes || p.window != nil {
			more = true
			break
		}
	}
	p.left -= made
	p.capacity = 2*made + 1
	return more && (p.left > 0 || p.window != nil), err
}

// group writes one group, without its window when that is long.
func (p *statePage) group(g *correlation.GroupEntry) error {
	window, _ := g.Window.(*correlation.WindowEntries)
	if window != nil {
		g.Window = nil
	}
	err := p.append(p.before, g)
	p.before = ","
	if window == nil {
		return err
	}
	p.Truncate(p.Len() - 1) // the brace
	p.WriteString(`,"window":`)
	if window.Len() > pageEntries {
		p.window = window
		return err
	}
	_, failed := window.WriteTo(p)
	p.WriteByte('}')
	return errors.Join(err, failed)
}

// append writes text and a value.
func (p *statePage) append(text string, v any) error {
	p.WriteString(text)
	enc := json.NewEncoder(p)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	p.Truncate(p.Len() - 1) // the line feed
	return nil
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
