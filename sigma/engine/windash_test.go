package engine_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/engine"
)

// Whatever stands for the dashes of a value, also for slashes that begin a word, its
// encoded form is found.
func TestEveryDashOfAnEncodedValueCounts(t *testing.T) {
	for _, value := range []string{"-a -b -c -d", "/a /b /c -d -e -f", "-a /b /c /d /e /f", "a/b -c"} {
		for _, modifiers := range []string{"windash|base64offset|contains", "windash|base64", "wide|windash|base64offset"} {
			if strings.Count(value, " ") > 4 && strings.Contains(modifiers, "wide") {
				continue
			}
			set := compile(t, rulesOf(t, fmt.Sprintf("title: T\ndetection: {s: {D|%s: '%s'}, condition: s}\n", modifiers, value)), engine.Options{})
			w := set.NewWorker()
			for _, dash := range []string{"-", "/", "\u2013", "\u2014", "\u2015"} {
				text := strings.NewReplacer("-", dash, " /", " "+dash).Replace(value)
				if strings.HasPrefix(text, "/") {
					text = dash + text[1:]
				}
				data := []byte(text)
				if strings.Contains(modifiers, "wide") {
					data = nil
					for _, r := range text {
						data = append(data, byte(r), byte(r>>8))
					}
				}
				if strings.Contains(modifiers, "offset") {
					data = append([]byte("xy"), append(data, 'z')...)
				}
				var ev engine.Events
				if err := w.DecodeJSON(&ev, []byte(`{"D":"`+base64.StdEncoding.EncodeToString(data)+`"}`)); err != nil {
					t.Fatal(err)
				}
				if len(titles(w, &ev)) != 1 {
					t.Errorf("%s of %q does not find %q", modifiers, value, text)
				}
			}
		}
	}
}
