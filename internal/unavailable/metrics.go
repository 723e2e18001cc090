package unavailable

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// Register registers the series of every feature that is unavailable, at zero.
func Register(reg prometheus.Registerer) error {
	for _, f := range features {
		for i := range f.Series {
			if err := f.Series[i].register(reg); err != nil {
				return fmt.Errorf("register metric %s: %w", f.Series[i].Name, err)
			}
		}
	}
	return nil
}

func (s *Series) register(reg prometheus.Registerer) error {
	names := make([]string, 0, len(s.Labels))
	for _, l := range s.Labels {
		names = append(names, l.Name)
	}
	var c prometheus.Collector
	var touch func(values ...string)
	switch s.Kind {
	case Counter:
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: s.Name, Help: s.Help}, names)
		c, touch = v, func(values ...string) { v.WithLabelValues(values...) }
	case Gauge:
		v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: s.Name, Help: s.Help}, names)
		c, touch = v, func(values ...string) { v.WithLabelValues(values...) }
	case Histogram:
		v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: s.Name, Help: s.Help, Buckets: s.Buckets}, names)
		c, touch = v, func(values ...string) { v.WithLabelValues(values...) }
	}
	if err := reg.Register(c); err != nil {
		return err
	}
	eachCombination(s.Labels, nil, touch)
	return nil
}

// eachCombination calls f with every combination of label values, once with
// none when there is no label.
func eachCombination(labels []Label, chosen []string, f func(...string)) {
	if len(labels) == 0 {
		f(chosen...)
		return
	}
	for _, v := range labels[0].Values {
		eachCombination(labels[1:], append(chosen[:len(chosen):len(chosen)], v), f)
	}
}
