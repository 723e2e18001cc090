package daemon

import (
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/sources"
)

func TestCheckInput(t *testing.T) {
	for source, want := range map[string]string{
		"stdin":           "",
		"stdin://":        "",
		"http":            "",
		"http://x":        `"http://x" is no input`,
		"stdim":           `"stdim" is no input (stdin, http)`,
		"":                `"" is no input`,
		"nats://h:4222/s": `"nats://h:4222/s" is not in this build (stdin, http`,
		"nats://h/s":      `"nats://h/s" is no input`,
		"unix:///s":       `"unix:///s" is not in this build (stdin, http`,
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

func TestTheHelpOfInputNamesWhatThisBuildHas(t *testing.T) {
	for _, s := range config.Settings("daemon") {
		if s.Flag != "input" {
			continue
		}
		for _, k := range inputKinds() {
			if strings.Contains(s.Help, k.usage) != (k.open != nil) {
				t.Errorf("%q names %s: %t, want it the other way round", s.Help, k.usage, k.open == nil)
			}
		}
		return
	}
	t.Error("no flag --input")
}

func TestAnInputThatCannotBeOpenedRefusesTheStart(t *testing.T) {
	broken := inputKind{name: "broken", words: []string{"broken"}, open: func(*Daemon) (sources.Source, error) {
		return nil, errors.New("no such device")
	}}
	cfg := counting(t)
	cfg.Config.Daemon.Input.Source = "broken"
	_, err := New(t.Context(), Options{
		Config: cfg, Log: slog.New(slog.DiscardHandler), Out: io.Discard, Err: io.Discard, inputs: []inputKind{broken},
	})
	if codeOf(err) != exitConfig || err == nil || err.Error() != "--input broken: no such device" {
		t.Errorf("got %v, want the fault of the input", err)
	}
}
