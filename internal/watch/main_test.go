package watch

import (
	"testing"

	"github.com/sluicehq/sluice/graph/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }
