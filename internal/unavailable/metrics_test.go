package unavailable

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
)

var update = flag.Bool("update", false, "rewrite the golden file")

func TestSeriesOfUnavailableFeaturesAreThereAtZero(t *testing.T) {
	const golden = "testdata/metrics.golden"
	reg := prometheus.NewPedanticRegistry()
	if err := Register(prometheus.WrapRegistererWithPrefix("svc_", reg)); err != nil {
		t.Fatal(err)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&got, f); err != nil {
			t.Fatal(err)
		}
	}
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s differs\ngot:\n%s\nwant:\n%s", golden, got.Bytes(), want)
	}
}
