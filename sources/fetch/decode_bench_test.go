package fetch_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sources/fetch"
)

// A list of 100,000 addresses in every format.
func BenchmarkDecode(b *testing.B) {
	list := func(head, entry, end string) []byte {
		var s strings.Builder
		s.WriteString(head)
		for i := range 100_000 {
			fmt.Fprintf(&s, entry, i>>16, i>>8&255, i&255)
		}
		return []byte(s.String() + end)
	}
	for _, tc := range []struct {
		format fetch.Format
		data   []byte
	}{
		{fetch.JSON, list("[", "\"10.%d.%d.%d\",\n", `""]`)},
		{fetch.YAML, list("", "- 10.%d.%d.%d\n", "")},
		{fetch.Lines, list("", "10.%d.%d.%d\n", "")},
		{fetch.CSV, list("ip\n", "10.%d.%d.%d\n", "")},
	} {
		b.Run(string(tc.format), func(b *testing.B) {
			b.SetBytes(int64(len(tc.data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := fetch.Decode(tc.format, tc.data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
