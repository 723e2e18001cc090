//go:build no_otlp

package sink

import (
	"strings"
	"testing"
)

func TestABuildWithoutOTLPRefusesIt(t *testing.T) {
	for _, scheme := range []string{"otlp", "otlps", "otlphttp", "otlphttps"} {
		if _, _, err := ParseSpec(scheme+"://collector", RoleFindings); err == nil || !strings.Contains(err.Error(), "Unsupported output sink") {
			t.Errorf("%s: got %v, want a refusal", scheme, err)
		}
	}
}
