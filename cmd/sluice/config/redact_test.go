package config

import (
	"strings"
	"testing"
)

func TestShowHidesSecretsAndNothingElse(t *testing.T) {
	l, err := Load(Options{Section: "daemon", Flags: []Flag{
		{Name: "exclude-rule", Values: []string{"ops@example.org", "attack.t1078@v2"}},
		{Name: "output", Values: []string{"file:///var/a:b@c?on_full=drop", "nats://u:secret@h:1/s", "otlp+http://h:4318/?api_key=secret"}},
		{Name: "rules", Values: []string{"/srv/u:v@host/rules", "https://example.org/u:v@w"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := l.ShowYAML("daemon")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"- ops@example.org\n", "- attack.t1078@v2\n", "- file:///var/a:b@c?on_full=drop\n", "- nats://u:xxxxx@h:1/s\n", "- otlp+http://h:4318/?api_key=xxxxx\n",
		"- /srv/u:v@host/rules\n", "- https://example.org/u:v@w\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "secret") {
		t.Errorf("a secret is shown:\n%s", text)
	}
}
