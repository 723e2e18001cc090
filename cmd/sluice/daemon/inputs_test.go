package daemon

import (
	"strings"
	"testing"

	"github.com/sluicehq/sluice/cmd/sluice/config"
)

func TestCheckInput(t *testing.T) {
	for source, want := range map[string]string{
		"stdin":           "",
		"stdin://":        "",
		"http":            "",
		"http://x":        `"http://x" is no input`,
		"stdim":           `"stdim" is no input (stdin, http, `,
		"":                `"" is no input`,
		"nats://h:4222/s": `"nats://h:4222/s" is not in this build (stdin, http)`,
		"nats://h/s":      `"nats://h/s" is no input`,
		"unix:///s":       `"unix:///s" is not in this build (stdin, http)`,
		"unix:/s":         `"unix:/s" is no input`,
		"unix://h/s":      `"unix://h/s" is no input`,
		"nats://%":        `"nats://%" is no input`,
	} {
		err := CheckInput(source)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: got %v, want %q", source, err, want)
		}
	}
}

func TestTheHelpOfInputNamesEveryKind(t *testing.T) {
	for _, s := range config.Settings("daemon") {
		if s.Flag != "input" {
			continue
		}
		for _, k := range inputKinds() {
			if !strings.Contains(s.Help, k.usage) {
				t.Errorf("%q does not name %s", s.Help, k.usage)
			}
		}
		return
	}
	t.Error("no flag --input")
}
