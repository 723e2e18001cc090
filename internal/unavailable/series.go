package unavailable

// Series is a family of metrics. Scrapes show it at zero although the feature is
// unavailable, so that a dashboard does not depend on the build.
type Series struct {
	Name    string // without the prefix of the daemon
	Help    string
	Kind    Kind
	Buckets []float64 // of a histogram
	Labels  []Label
}

// Kind is the type of a family.
type Kind uint8

// The kinds.
const (
	Counter Kind = iota
	Gauge
	Histogram
)

// Label has a fixed set of values. Every combination of the values of all labels
// has a series.
type Label struct {
	Name   string
	Values []string
}

func one(name string, values ...string) []Label { return []Label{{name, values}} }

// Bounds of histograms.
var (
	layers = []float64{0.00001, 0.00005, 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1}
	scores = []float64{0, 1, 5, 10, 25, 50, 100, 250, 500, 1000}
)

var (
	enrichSeries = []Series{
		{Name: "enrichment_queue_depth", Help: "Enricher calls in progress plus results waiting for a slot.", Kind: Gauge},
	}
	riskSeries = []Series{
		{Name: "risk_annotations_total", Help: "Results seen by the risk layer, by action.", Labels: one("action", "scored", "no_entity", "skipped")},
		{Name: "risk_annotation_score", Help: "Risk scores of results in scope.", Kind: Histogram, Buckets: scores},
		{Name: "risk_objects_total", Help: "Risk objects attached to results."},
		{Name: "risk_entities_open", Help: "Entities the risk layer tracks.", Kind: Gauge},
		{Name: "risk_state_entries", Help: "Contributions the risk layer retains.", Kind: Gauge},
		{Name: "risk_evictions_total", Help: "Entities refused by a full risk store or aged out of it."},
		{Name: "risk_incidents_emitted_total", Help: "Risk incidents emitted, by trigger.", Labels: one("trigger", "score", "tactic_count")},
		{Name: "risk_incident_results_total", Help: "Risk incidents emitted."},
		{Name: "risk_layer_duration_seconds", Help: "Time the risk layer takes for a result set.", Kind: Histogram, Buckets: layers},
	}
	fieldSeries = []Series{
		{Name: "fields_observed_total", Help: "Events scanned by the field observer."},
		{Name: "fields_observer_unique_keys", Help: "Field paths the field observer tracks.", Kind: Gauge},
		{Name: "fields_observer_overflow_dropped_total", Help: "New field paths the full field observer refused."},
	}
	schemaSeries = []Series{
		{Name: "events_unknown_schema_total", Help: "Events that match no schema signature."},
		{Name: "events_ambiguous_schema_total", Help: "Events that tie between differently named schemas."},
		{Name: "unknown_schema_clusters", Help: "Clusters in the sample of unknown shapes.", Kind: Gauge},
	}
	tapSeries = []Series{
		{Name: "tap_sessions_total", Help: "Tap sessions accepted."},
		{Name: "tap_active_sessions", Help: "Open tap sessions.", Kind: Gauge},
		{Name: "tap_events_streamed_total", Help: "Events written to tap clients."},
		{Name: "tap_events_dropped_total", Help: "Events a tap session could not take."},
	}
	tailSeries = []Series{
		{Name: "tail_active_sessions", Help: "Open detection tail sessions.", Kind: Gauge},
		{Name: "tail_detections_dropped_total", Help: "Detections a tail session could not take."},
	}
	dispositionSeries = []Series{
		{Name: "disposition_ingest_total", Help: "Disposition records taken in, by source and result.", Labels: []Label{
			{"source", []string{"api", "file", "http", "nats"}},
			{"result", []string{"accepted", "duplicate", "rejected"}},
		}},
		{Name: "disposition_ingest_errors_total", Help: "Dispositions that could not be taken in, by reason.", Labels: one("reason", "parse", "validation")},
	}
	captureSeries = []Series{
		{Name: "capture_incidents_open", Help: "Incidents for which events are held.", Kind: Gauge},
		{Name: "capture_events_held", Help: "Events held for a verdict.", Kind: Gauge},
		{Name: "capture_bytes_held", Help: "Payload bytes held for a verdict.", Kind: Gauge},
		{Name: "capture_evictions_total", Help: "Incidents removed from the capture ring, by reason.", Labels: one("reason", "ring_full", "ttl")},
		{Name: "capture_events_dropped_total", Help: "Events not admitted to the capture ring, by reason.", Labels: one("reason",
			"event_too_large", "incident_event_cap", "incident_byte_cap", "global_byte_cap", "unsupported_result_kind")},
		{Name: "capture_spool_jobs_total", Help: "Spool jobs, by result.", Labels: one("result", "queued", "written", "exists", "miss", "queue_full", "io_error")},
		{Name: "capture_spool_evictions_total", Help: "Spool files removed, by reason.", Labels: one("reason", "budget")},
	}
)
