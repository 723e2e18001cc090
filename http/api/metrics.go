package api

import (
	"bytes"
	"net/http"
	"strconv"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/sluicehq/sluice/http/openapi"
)

const typeMetrics = "text/plain; version=0.0.4; charset=utf-8"

func (a *API) metricsRoutes() []route {
	return []route{{pattern: "/metrics", endpoints: table{http.MethodGet: {permission: "metrics:read", early: a.getMetrics, operation: scrape}}}}
}

var scrape = operation{
	id: "getMetrics", summary: "Show all metrics",
	text:    "Answers from the first moment on, in the text format of Prometheus.",
	answers: []openapi.Answer{{Status: http.StatusOK, Description: "The metrics.", Content: []openapi.Content{{Type: typeMetrics, Body: ""}}}},
}

// getMetrics renders the registry in the one format the service speaks. What a
// collector cannot give is left out and logged; the scrape succeeds.
func (a *API) getMetrics(w http.ResponseWriter, _ *http.Request) {
	families, err := a.metrics.Gather()
	if err != nil {
		a.log.Warn("metrics incomplete", "err", err)
	}
	var page, one bytes.Buffer
	for _, f := range families {
		one.Reset()
		if err := renderFamily(&one, f); err != nil {
			a.log.Warn("metric family left out", "family", f.GetName(), "err", err)
			continue
		}
		page.Write(one.Bytes())
	}
	h := w.Header()
	h.Set("Content-Type", typeMetrics)
	h.Set("Content-Length", strconv.Itoa(page.Len()))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(page.Bytes())
}

func renderFamily(b *bytes.Buffer, f *dto.MetricFamily) error {
	_, err := expfmt.MetricFamilyToText(b, f)
	return err
}
