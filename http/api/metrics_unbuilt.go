package api

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// A family is a row of the metrics catalogue (specification part 22) that is
// visible from the first scrape, whatever is switched on.
type family struct {
	name, help string
	kind       kind
	buckets    []float64 // histograms
	labels     []label
}

type kind uint8

const (
	counter kind = iota
	gauge
	histogram
)

// label has a fixed set of values, each of which begins at zero.
type label struct {
	name   string
	values []string
}

func one(name string, values ...string) []label { return []label{{name, values}} }

// RegisterUnbuilt registers, at zero, the families that are always present but
// whose component does not exist in this build, under prefix. It is called when
// all components have registered: a family that r already gives is left to its
// owner.
func RegisterUnbuilt(r *prometheus.Registry, prefix string) error {
	owned := make(map[string]bool)
	families, err := r.Gather()
	if err != nil {
		return fmt.Errorf("gather registered metrics: %w", err)
	}
	for _, f := range families {
		owned[f.GetName()] = true
	}
	reg := prometheus.WrapRegistererWithPrefix(prefix, r)
	for _, f := range unbuiltFamilies() {
		if owned[prefix+f.name] {
			continue
		}
		if err := f.register(reg); err != nil {
			return fmt.Errorf("register metric %s: %w", f.name, err)
		}
	}
	return nil
}

func (f family) register(reg prometheus.Registerer) error {
	names := make([]string, 0, len(f.labels))
	for _, l := range f.labels {
		names = append(names, l.name)
	}
	var c prometheus.Collector
	var touch func(values ...string)
	switch f.kind {
	case counter:
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: f.name, Help: f.help}, names)
		c, touch = v, func(values ...string) { v.WithLabelValues(values...) }
	case gauge:
		v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: f.name, Help: f.help}, names)
		c, touch = v, func(values ...string) { v.WithLabelValues(values...) }
	case histogram:
		v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: f.name, Help: f.help, Buckets: f.buckets}, names)
		c, touch = v, func(values ...string) { v.WithLabelValues(values...) }
	}
	if err := reg.Register(c); err != nil {
		return err
	}
	eachCombination(f.labels, nil, touch)
	return nil
}

// eachCombination calls f with every combination of label values, once with
// none when there is no label.
func eachCombination(labels []label, chosen []string, f func(...string)) {
	if len(labels) == 0 {
		f(chosen...)
		return
	}
	for _, v := range labels[0].values {
		eachCombination(labels[1:], append(chosen[:len(chosen):len(chosen)], v), f)
	}
}

// unbuiltFamilies is the catalogue of what other components will own.
func unbuiltFamilies() []family {
	var (
		layers   = []float64{0.00001, 0.00005, 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1}
		resolves = []float64{0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}
		scores   = []float64{0, 1, 5, 10, 25, 50, 100, 250, 500, 1000}
	)
	return []family{
		{name: "audit_write_errors_total", help: "Audit entries that could not be stored, pruned or passed to the audit sink."},

		{name: "source_resolve_seconds", help: "Time of each attempt to resolve a dynamic source.", kind: histogram, buckets: resolves},
		{name: "source_cache_hits_total", help: "Cached values served because a fetch failed."},

		{name: "enrichment_queue_depth", help: "Enricher calls in progress plus results waiting for a slot.", kind: gauge},

		{name: "dedup_results_total", help: "Outcomes of deduplication, by action.", labels: one("action", "emitted", "folded", "repeat", "resolved")},
		{name: "dedup_store_entries", help: "Active alerts in the deduplication store.", kind: gauge},
		{name: "dedup_evictions_total", help: "Alerts removed from the deduplication store."},
		{name: "dedup_summaries_emitted_total", help: "Summary records emitted for repeated and resolved alerts."},
		{name: "incidents_open", help: "Open incidents.", kind: gauge},
		{name: "incidents_emitted_total", help: "Incident records emitted, by trigger.", labels: one("trigger", "group_wait", "group_interval", "repeat", "resolved")},
		{name: "incident_results_total", help: "Incident records emitted."},
		{name: "incident_overmerge_total", help: "Grouping values that a guard kept from joining incidents, by guard.", labels: one("guard", "stop_value", "cardinality_ceiling")},
		{name: "silenced_total", help: "Results muted by a silence."},
		{name: "silences_active", help: "Silences in force.", kind: gauge},
		{name: "inhibit_sources_active", help: "Results that currently inhibit others.", kind: gauge},
		{name: "alert_pipeline_duration_seconds", help: "Time the alert pipeline takes for a result set or a tick.", kind: histogram, buckets: layers},

		{name: "risk_annotations_total", help: "Results seen by the risk layer, by action.", labels: one("action", "scored", "no_entity", "skipped")},
		{name: "risk_annotation_score", help: "Risk scores of results in scope.", kind: histogram, buckets: scores},
		{name: "risk_objects_total", help: "Risk objects attached to results."},
		{name: "risk_entities_open", help: "Entities the risk layer tracks.", kind: gauge},
		{name: "risk_state_entries", help: "Contributions the risk layer retains.", kind: gauge},
		{name: "risk_evictions_total", help: "Entities refused by a full risk store or aged out of it."},
		{name: "risk_incidents_emitted_total", help: "Risk incidents emitted, by trigger.", labels: one("trigger", "score", "tactic_count")},
		{name: "risk_incident_results_total", help: "Risk incidents emitted."},
		{name: "risk_layer_duration_seconds", help: "Time the risk layer takes for a result set.", kind: histogram, buckets: layers},

		{name: "otlp_log_records_total", help: "Log records received over OTLP."},

		{name: "fields_observed_total", help: "Events scanned by the field observer."},
		{name: "fields_observer_unique_keys", help: "Field paths the field observer tracks.", kind: gauge},
		{name: "fields_observer_overflow_dropped_total", help: "New field paths the full field observer refused."},
		{name: "events_unknown_schema_total", help: "Events that match no schema signature."},
		{name: "events_ambiguous_schema_total", help: "Events that tie between differently named schemas."},
		{name: "unknown_schema_clusters", help: "Clusters in the sample of unknown shapes.", kind: gauge},
		{name: "rules_pruned_by_logsource_total", help: "Rules skipped because their logsource conflicts with the event's."},
		{name: "events_without_logsource_total", help: "Evaluations of events without any logsource dimension."},

		{name: "tap_sessions_total", help: "Tap sessions accepted."},
		{name: "tap_active_sessions", help: "Open tap sessions.", kind: gauge},
		{name: "tap_events_streamed_total", help: "Events written to tap clients."},
		{name: "tap_events_dropped_total", help: "Events a tap session could not take."},
		{name: "tail_active_sessions", help: "Open detection tail sessions.", kind: gauge},
		{name: "tail_detections_dropped_total", help: "Detections a tail session could not take."},

		{name: "disposition_ingest_total", help: "Disposition records taken in, by source and result.", labels: []label{
			{"source", []string{"api", "file", "http", "nats"}},
			{"result", []string{"accepted", "duplicate", "rejected"}},
		}},
		{name: "disposition_ingest_errors_total", help: "Dispositions that could not be taken in, by reason.", labels: one("reason", "parse", "validation")},

		{name: "capture_incidents_open", help: "Incidents for which events are held.", kind: gauge},
		{name: "capture_events_held", help: "Events held for a verdict.", kind: gauge},
		{name: "capture_bytes_held", help: "Payload bytes held for a verdict.", kind: gauge},
		{name: "capture_evictions_total", help: "Incidents removed from the capture ring, by reason.", labels: one("reason", "ring_full", "ttl")},
		{name: "capture_events_dropped_total", help: "Events not admitted to the capture ring, by reason.", labels: one("reason",
			"event_too_large", "incident_event_cap", "incident_byte_cap", "global_byte_cap", "unsupported_result_kind")},
		{name: "capture_spool_jobs_total", help: "Spool jobs, by result.", labels: one("result", "queued", "written", "exists", "miss", "queue_full", "io_error")},
		{name: "capture_spool_evictions_total", help: "Spool files removed, by reason.", labels: one("reason", "budget")},
	}
}
