package dedup

import (
	"strconv"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/event"
)

// KindSummary is the kind of summaries.
const KindSummary graph.Kind = "alert_summary"

// State says why a summary is emitted.
type State string

// The states of summaries.
const (
	Repeat   State = "repeat"   // more results came
	Resolved State = "resolved" // none came for long: the alert is over
)

// Summary is a record of an alert: the sample of its first result, with what is known of the
// alert among the enrichments. It never changes.
type Summary struct {
	*opening
	state    State
	lastSeen int64
	fires    int64
}

func (a *Alert) summary(s State) *Summary {
	return &Summary{opening: a.opening, state: s, lastSeen: a.lastSeen, fires: a.fires}
}

// State says why the summary is emitted.
func (s *Summary) State() State { return s.state }

// Kind implements graph.Record.
func (s *Summary) Kind() graph.Kind { return KindSummary }

// AppendNative implements graph.Record.
func (s *Summary) AppendNative(dst []byte) []byte {
	dst = append(dst, '{')
	var there, told bool
	for key, v := range event.ValueOf(s.sample()).Members {
		if there {
			dst = append(dst, ',')
		}
		there = true
		enriched := event.KeyIs(key, enrichmentsKey)
		if !told && (enriched || event.KeyIs(key, "matched_selections") || event.KeyIs(key, "correlation_type")) {
			told = true
			if enriched {
				dst = s.appendEnrichments(dst, v)
				continue
			}
			dst = append(s.appendEnrichments(dst, event.Value{}), ',')
		}
		dst = append(append(append(dst, key...), ':'), v.Raw...)
	}
	return append(dst, '}')
}

const enrichmentsKey = "enrichments"

// The enrichments of summaries.
const (
	keyFields      = "dedup_fields"
	keyFingerprint = "dedup_fingerprint"
	keyFireCount   = "dedup_fire_count"
	keyFirstSeen   = "dedup_first_seen"
	keyLastSeen    = "dedup_last_seen"
	keyState       = "dedup_state"
)

// appendEnrichments appends the member of the enrichments: those of the first result, but
// for what has a name of ours, and ours.
func (s *Summary) appendEnrichments(dst []byte, of event.Value) []byte {
	dst = append(appendName(dst, enrichmentsKey), ":{"...)
	for key, v := range of.Members {
		if !ours(key) {
			dst = append(append(append(append(dst, key...), ':'), v.Raw...), ',')
		}
	}
	dst = append(append(append(appendName(dst, keyFields), ':'), s.values()...), ',')
	dst = append(append(append(appendName(dst, keyFingerprint), `:"`...), s.fingerprint()...), `",`...)
	dst = append(strconv.AppendInt(append(appendName(dst, keyFireCount), ':'), s.fires, 10), ',')
	dst = append(strconv.AppendInt(append(appendName(dst, keyFirstSeen), ':'), s.first, 10), ',')
	dst = append(strconv.AppendInt(append(appendName(dst, keyLastSeen), ':'), s.lastSeen, 10), ',')
	return append(append(append(appendName(dst, keyState), `:"`...), s.state...), `"}`...)
}

func ours(key []byte) bool {
	for _, name := range []string{keyFields, keyFingerprint, keyFireCount, keyFirstSeen, keyLastSeen, keyState} {
		if event.KeyIs(key, name) {
			return true
		}
	}
	return false
}

func appendName(dst []byte, name string) []byte { return event.AppendQuoted(dst, name) }
