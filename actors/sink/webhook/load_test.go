package webhook_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/actors/sink/webhook"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/egress"
	"github.com/sluicehq/sluice/internal/filetest"
	"github.com/sluicehq/sluice/internal/suggest"
	"github.com/sluicehq/sluice/internal/template"
	"github.com/sluicehq/sluice/sigma/ast"
)

// files writes files into a new directory, by name.
func files(t *testing.T, all map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range all {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// told are the faults of a file, as the start tells them.
func told(dir string, faults []*webhook.Fault) (all []string) {
	for _, f := range faults {
		text := f.Error()
		var near *suggest.Error
		if errors.As(f, &near) && near.Suggestion != "" {
			text += " (" + near.Suggestion + ")"
		}
		all = append(all, strings.ReplaceAll(text, dir+"/", ""))
	}
	return all
}

// vars are the variables of tests.
func vars(set map[string]string) func(string) string {
	return func(name string) string { return set[name] }
}

const good = "webhooks:\n  - id: w\n    kind: detection\n    url: https://x/\n"

func TestFaultsOfFiles(t *testing.T) {
	for _, tc := range []struct {
		name string
		text string // behind a webhook that has what it needs
		want []string
	}{
		{"nothing is wrong", "", nil},
		{"another key", "    ratelimit: {requests: 1, per: 1s}\n", []string{"5: webhook 'w': unknown key 'ratelimit' (did you mean 'rate_limit'?)"}},
		{"another key of a section", "    retry:\n      attemps: 3\n", []string{"6: webhook 'w': unknown key 'retry.attemps' (did you mean 'attempts'?)"}},
		{"a method that is no token", "    method: PO ST\n", []string{"5: webhook 'w': invalid HTTP method 'PO ST'"}},
		{"a method in lower case", "    method: put\n", nil},
		{"no attempt", "    retry: {attempts: 0}\n", []string{"5: webhook 'w': retry.attempts must be at least 1"}},
		{"a duration without a unit", "    timeout: 10\n", []string{`5: webhook 'w': field 'timeout': invalid duration "10": a unit is needed behind the number`}},
		{"no time at all", "    timeout: 0s\n", []string{"5: webhook 'w': timeout must be greater than zero"}},
		{"a rate of nothing", "    rate_limit:\n      requests: 0\n      per: 0s\n", []string{
			"6: webhook 'w': rate_limit.requests must be at least 1", "7: webhook 'w': rate_limit.per must be greater than zero",
		}},
		{"half a rate", "    rate_limit:\n      requests: 5\n", []string{"5: webhook 'w': missing required field 'rate_limit.per'"}},
		{"the other half", "    rate_limit: {per: 1m}\n", []string{"5: webhook 'w': missing required field 'rate_limit.requests'"}},
		{"a queue that is too small or too large", "    queue_size: 0\n", []string{"5: webhook 'w': queue_size must be from 1 to 1000000"}},
		{"a queue that is too large", "    queue_size: 1000001\n", []string{"5: webhook 'w': queue_size must be from 1 to 1000000"}},
		{"a queue of words", "    queue_size: many\n", []string{"5: webhook 'w': field 'queue_size': want an integer, got 'many'"}},
		{"an unknown level", "    scope:\n      levels: [hihg]\n", []string{"6: webhook 'w': scope.levels: unknown level 'hihg' (valid levels: informational, low, medium, high, critical) (did you mean 'high'?)"}},
		{"a glob that cannot be read", "    scope: {rules: ['a*[']}\n", []string{"5: webhook 'w': scope.rules: glob 'a*[' cannot be read: [ is not closed (the character itself is \\[)"}},
		{"a text where a list belongs", "    scope: {tags: attack.*}\n", []string{"5: webhook 'w': field 'scope.tags': want a list, got 'attack.*'"}},
		{"a header that is no token", "    headers: {'X Y': a}\n", []string{"5: webhook 'w': 'X Y' in field 'headers' is no name of a header"}},
		{"a header twice", "    headers:\n      X-A: a\n      x-a: b\n", []string{"7: webhook 'w': header 'x-a' is configured twice"}},
		{"a header that is a number", "    headers:\n      X-A: 1\n", []string{"6: webhook 'w': field 'headers.X-A': want text (quotes make it text)"}},
		{"a header that the client writes", "    headers: {content-length: '1'}\n", []string{"5: webhook 'w': header 'content-length' cannot be configured: it is part of how a request is sent"}},
		{"a header of two lines", "    headers: {X-A: \"a\\r\\nX-B: c\"}\n", []string{"5: webhook 'w': field 'headers.X-A': byte 2 is 0x0d: only visible ASCII characters, spaces and tabs can be sent"}},
		{"a host that is none", "    headers: {host: a b}\n", []string{"5: webhook 'w': field 'headers.host': it has a character that no host has"}},
		{"an event that chooses the host by a header", "    headers: {Host: '${KEY}.${detection.fields.H}'}\n", []string{
			"5: webhook 'w': template reference '${detection.fields.H}' in field 'headers.Host': an event may not choose the host",
		}},
		{"a host from a variable", "    headers: {Host: '${KEY}.example:${PORT}'}\n", nil},
		{"headers that are a list", "    headers: [a]\n", []string{"5: webhook 'w': field 'headers': want a mapping of names to values"}},
		{"the other kind's namespace", "    body: '${correlation.type}'\n", []string{"5: webhook 'w': template reference '${correlation.type}' in field 'body' is the wrong namespace for a detection webhook"}},
		{"references of every field", "    headers:\n      X-A: ${a.b}\n    body: |\n      ${detection.rule.titel} ${detection.rule}\n", []string{
			"6: webhook 'w': malformed template reference '${a.b}' in field 'headers.X-A'",
			"7: webhook 'w': unknown template reference '${detection.rule.titel}' in field 'body' (did you mean 'detection.rule.title'?)",
			"7: webhook 'w': unknown template reference '${detection.rule}' in field 'body'",
		}},
		{"half a client certificate", "    tls: {client_cert: c.pem}\n", []string{"5: webhook 'w': tls.client_cert and tls.client_key must be set together for mutual TLS"}},
		{"a CA that is not there", "    tls:\n      ca: /missing/ca.pem\n", []string{"6: webhook 'w': failed to read tls.ca '/missing/ca.pem': no such file or directory"}},
		{"a secret that is not there", "    signing: {secret_env: NONE}\n", []string{"5: webhook 'w': signing secret environment variable 'NONE' is unset or empty"}},
		{"a secret that is empty", "    signing: {secret_env: WHSEC, secret_encoding: base64}\n", []string{"5: webhook 'w': signing secret environment variable 'WHSEC' holds an empty key"}},
		{"rotation where there is room for one", "    signing: {secret_env: NONE, scheme: github, rotate_secret_env: NONE}\n", []string{
			"5: webhook 'w': signing.rotate_secret_env cannot be used with scheme: github, which has room for one signature",
		}},
		{"a custom scheme without its section", "    signing: {secret_env: KEY, scheme: custom}\n", []string{"5: webhook 'w': scheme: custom needs the section 'signing.custom'"}},
		{"a token that nobody knows", "    signing:\n      secret_env: KEY\n      scheme: custom\n      custom:\n        signature_header: X-S\n        value_format: '{signature} {when}'\n        signed_payload: '{body'\n", []string{
			"10: webhook 'w': signing.custom.value_format: unknown token {when} (valid tokens: {signature}, {timestamp}, {id})",
			"11: webhook 'w': signing.custom.signed_payload: { is not closed",
		}},
		{"a signature in a configured header", "    headers: {Webhook-Signature: mine}\n    signing: {secret_env: KEY}\n", []string{"6: webhook 'w': signing header 'webhook-signature' is also a configured header"}},
		{"the same key twice", "    url: https://y/\n", []string{`5: the file cannot be read: invalid YAML: mapping key "url" is repeated`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := files(t, map[string]string{"w.yml": good + tc.text})
			loaded, faults := webhook.Load([]string{filepath.Join(dir, "w.yml")}, webhook.LoadOptions{
				Getenv: vars(map[string]string{"KEY": "k", "WHSEC": "whsec_"}),
			})
			var want []string
			for _, text := range tc.want {
				want = append(want, "w.yml:"+text)
			}
			if got := told(dir, faults); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("faults\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
			}
			if usable := len(tc.want) == 0; usable != (len(loaded) == 1) {
				t.Errorf("%d webhooks are loaded", len(loaded))
			}
		})
	}
}

func TestFaultsOfEntries(t *testing.T) {
	for _, tc := range []struct {
		name  string
		entry string
		want  string
	}{
		{"an unknown kind", "{id: a, kind: incident, url: 'https://x'}", "w.yml:2: webhook 'a': unknown kind 'incident' (valid kinds: detection, correlation)"},
		{"an unknown kind has no references", "{id: a, kind: incident, url: 'https://x', body: '${detection.rule.title}${incident.id}'}", "w.yml:2: webhook 'a': unknown kind 'incident' (valid kinds: detection, correlation)"},
		{"a kind with a slip", "{id: a, kind: detektion, url: 'https://x'}", "w.yml:2: webhook 'a': unknown kind 'detektion' (valid kinds: detection, correlation) (did you mean 'detection'?)"},
		{"no kind", "{id: a, url: 'https://x'}", "w.yml:2: webhook 'a': missing required field 'kind'"},
		{"a kind that is no text says so once", "{id: a, kind: 5, url: 'https://x'}", "w.yml:2: webhook 'a': field 'kind': want text, got 5 (quotes make it text)"},
		{"no URL", "{id: a, kind: detection}", "w.yml:2: webhook 'a': missing required field 'url'"},
		{"a blank URL", "{id: a, kind: detection, url: '  '}", "w.yml:2: webhook 'a': missing required field 'url'"},
		{"an event that chooses the host", "{id: a, kind: detection, url: 'https://${detection.fields.H}:8/x'}", "w.yml:2: webhook 'a': template reference '${detection.fields.H}' in field 'url' stands in front of the path: an event may not choose the host"},
		{"an event that chooses a part of the host", "{id: a, kind: correlation, url: 'https://a.${correlation.group_key.H}'}", "w.yml:2: webhook 'a': template reference '${correlation.group_key.H}' in field 'url' stands in front of the path: an event may not choose the host"},
		{"an event that chooses everything", "{id: a, kind: detection, url: '${detection.event.u}'}", "w.yml:2: webhook 'a': template reference '${detection.event.u}' in field 'url' stands in front of the path: an event may not choose the host"},
		{"a URL of another scheme", "{id: a, kind: detection, url: 'ftp://x'}", "w.yml:2: webhook 'a': field 'url': the URL does not begin with http:// or https://"},
		{"a malformed and an unknown reference", "{id: a, kind: detection, url: 'https://x/${rule.title}', body: '${detection.rule.titel}'}", "w.yml:2: webhook 'a': malformed template reference '${rule.title}' in field 'url'|" +
			"w.yml:2: webhook 'a': unknown template reference '${detection.rule.titel}' in field 'body' (did you mean 'detection.rule.title'?)"},
		{"no id", "{kind: detection, url: 'https://x'}", "w.yml:2: webhook number 1 of the file: missing required field 'id'"},
		{"an id with a blank", "{id: 'a b', kind: detection, url: 'https://x'}", "w.yml:2: webhook 'a b': the id must have 1 to 64 characters of A-Z, a-z, 0-9, '_', '.' and '-'"},
		{"an id that is too long", "{id: " + strings.Repeat("a", 65) + ", kind: detection, url: 'https://x'}", "w.yml:2: webhook '" + strings.Repeat("a", 65) + "': the id must have 1 to 64 characters of A-Z, a-z, 0-9, '_', '.' and '-'"},
		{"a reserved id", "{id: dlq, kind: detection, url: 'https://x'}", "w.yml:2: webhook 'dlq': the id 'dlq' is reserved"},
		{"the label of a sink", "{id: file-2, kind: detection, url: 'https://x'}", "w.yml:2: webhook 'file-2': the id 'file-2' is the label of another sink"},
		{"an entry that is no mapping", "slack", "w.yml:2: webhook number 1 of the file: want a mapping, got 'slack'"},
		{"an empty entry", "", "w.yml:2: field 'webhooks': an entry is empty"},
		{"two of one id", "{id: a, kind: detection, url: 'https://x'}\n  - {id: a, kind: correlation, url: 'https://y'}", "w.yml:3: webhook 'a': duplicate webhook id 'a'"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := files(t, map[string]string{"w.yml": "webhooks:\n  - " + tc.entry + "\n"})
			_, faults := webhook.Load([]string{dir}, webhook.LoadOptions{Taken: []string{"stdout", "file", "file-2"}})
			if got := strings.Join(told(dir, faults), "|"); got != tc.want {
				t.Errorf("faults\n got %s\nwant %s", got, tc.want)
			}
		})
	}
}

// What no result and no later moment makes right is refused, and what may become right is
// not.
func TestWebhooksThatCanNeverWork(t *testing.T) {
	env := map[string]string{"BASE": "https://h", "META": "169.254.169.254", "NONE": "", "SITE": "h.example", "TYPE": "application/problem+json"}
	for _, tc := range []struct {
		name   string
		policy egress.Policy
		keys   string // of the webhook, beside id and kind
		want   string // behind "w.yml:2: webhook 'w': "; empty for none
	}{
		{"a variable that is unset", "", "url: '${UNSET}/x'", "field 'url': the environment variable 'UNSET' is unset or empty"},
		{"a variable that is empty, in the path", "", "url: 'https://h/${NONE}'", "field 'url': the environment variable 'NONE' is unset or empty"},
		{"two of them", "", "url: 'https://${A}/${B}'", "field 'url': the environment variable 'A' is unset or empty|field 'url': the environment variable 'B' is unset or empty"},
		{"a variable that is no URL", "", "url: '${SITE}/x'", "field 'url': the URL does not begin with http:// or https://"},
		{"a variable that is a URL in place of a host", "", "url: 'http://${BASE}/x'", "field 'url': the URL has two schemes, one behind the other: does a variable hold a whole URL, and not the host alone?"},
		{"a variable that leads elsewhere", "", "url: 'https://h/${detection.rule.id}/../${SITE}'", "field 'url': the URL has the path segment '..', which leads elsewhere"},
		{"an event that chooses the rest of the host behind a variable", "", "url: '${BASE}${detection.fields.U}'", "field 'url': a reference to a result stands in front of the path: an event may not choose the host"},
		{"an event that chooses the port behind a variable", "", "url: '${BASE}:8${detection.fields.U}/'", "field 'url': the URL cannot be read: in its host, port, user or an escape with %"},
		{"variables of a whole URL", "", "url: '${BASE}/${SITE}/${detection.fields.U}'", ""},
		{"the metadata service", "", "url: 'http://169.254.169.254/'", "field 'url': egress policy denied link-local address 169.254.169.254 (--egress-policy permissive would allow it)"},
		{"the same from a variable", egress.Default, "url: 'http://${META}/${detection.rule.id}'", "field 'url': egress policy denied link-local address 169.254.169.254 (--egress-policy permissive would allow it)"},
		{"the same as a number", "", "url: 'http://0xA9FEA9FE/'", "field 'url': egress policy denied link-local address 169.254.169.254 (--egress-policy permissive would allow it)"},
		{"the same in IPv6", "", "url: 'http://[::ffff:169.254.169.254]/'", "field 'url': egress policy denied link-local address ::ffff:169.254.169.254 (--egress-policy permissive would allow it)"},
		{"loopback in strict mode", egress.Strict, "url: 'http://127.0.0.1:1/'", "field 'url': egress policy denied loopback address 127.0.0.1 (--egress-policy is strict)"},
		{"loopback by default", "", "url: 'http://127.0.0.1:1/'", ""},
		{"the metadata service in permissive mode", egress.Permissive, "url: 'http://169.254.169.254/'", ""},
		{"an address that is none", "", "url: 'http://10.0.0.256/'", "field 'url': host '10.0.0.256': the host looks like an IPv4 address, but is none"},
		{"a name that does not resolve", egress.Strict, "url: 'http://nowhere.invalid/'", ""},
		{"a body that is no JSON", "", "url: 'https://x', body: 'found ${detection.rule.title}'", "field 'body' is no JSON, which its Content-Type 'application/json' says: invalid character 'o' in literal false (expecting 'a') on its line 1 (a header Content-Type such as text/plain sends another text)"},
		{"a body that ends too early", "", `url: 'https://x', headers: {content-type: 'application/vnd.x+json; v=1'}, body: '{"a":"${detection.rule.title}"'`, "field 'body' is no JSON, which its Content-Type 'application/vnd.x+json; v=1' says: it ends too early (a header Content-Type such as text/plain sends another text)"},
		{"a type from a variable", "", "url: 'https://x', headers: {content-type: '${TYPE}'}, body: 'x'", "field 'body' is no JSON, which its Content-Type 'application/problem+json' says: invalid character 'x' looking for beginning of value on its line 1 (a header Content-Type such as text/plain sends another text)"},
		{"a type that a result decides", "", "url: 'https://x', headers: {content-type: '${detection.fields.T}'}, body: 'x'", ""},
		{"a body of another type", "", "url: 'https://x', headers: {content-type: text/plain}, body: 'found ${detection.rule.title}'", ""},
		{"references at every place of JSON", "", `url: 'https://x', body: '{"a":"${detection.rule.title}","b":${detection.event},${detection.rule.id}:-${detection.fields.N}}'`, ""},
		{"an empty body", "", "url: 'https://x', body: ''", ""},
		{"no body", "", "url: 'https://x'", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := files(t, map[string]string{"w.yml": "webhooks:\n  - {id: w, kind: detection, " + tc.keys + "}\n"})
			loaded, faults := webhook.Load([]string{dir}, webhook.LoadOptions{Policy: tc.policy, Getenv: vars(env)})
			got := strings.ReplaceAll(strings.Join(told(dir, faults), "|"), "w.yml:2: webhook 'w': ", "")
			if got != tc.want || (len(loaded) == 1) != (tc.want == "") {
				t.Errorf("%d webhooks, faults\n got %s\nwant %s", len(loaded), got, tc.want)
			}
		})
	}
}

func TestAnEmptyFileIsAFaultAndOneWithoutWebhooksIsNot(t *testing.T) {
	dir := files(t, map[string]string{"a.yml": "", "b.yml": "# none yet\n", "c.yml": "webhooks:\n"})
	loaded, faults := webhook.Load([]string{dir, filepath.Join(dir, "a.yml")}, webhook.LoadOptions{})
	const want = "a.yml: the file is empty (webhooks: [] says that there are none)"
	if got := strings.Join(told(dir, faults), "|"); got != want+"|"+want || len(loaded) > 0 {
		t.Errorf("%d webhooks, faults %s", len(loaded), got)
	}
}

func TestNoSecretIsReadForASignatureThatCannotBeMade(t *testing.T) {
	dir := files(t, map[string]string{"w.yml": good + "    signing: {secret_env: A, scheme: github, rotate_secret_env: B}\n"})
	_, faults := webhook.Load([]string{dir}, webhook.LoadOptions{Getenv: func(name string) string {
		t.Errorf("the variable %s is read", name)
		return ""
	}})
	if len(faults) != 1 {
		t.Errorf("got %v, want the one fault", told(dir, faults))
	}
}

func TestDirectoriesAndFiles(t *testing.T) {
	entry := func(id string) string { return strings.ReplaceAll(good, "id: w", "id: "+id) }
	dir := files(t, map[string]string{
		"b.yaml": entry("second"), "a.yml": entry("first"), ".c.yml": "hidden", "d.txt": "other", "e.yml": "# nothing for now\n", "f.yml": "webhooks:\n", "g.yml": "webhooks: []\n",
	})
	if err := os.Mkdir(filepath.Join(dir, "h.yml"), 0o700); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(files(t, map[string]string{"named": entry("third")}), "named")
	loaded, faults := webhook.Load([]string{dir, other}, webhook.LoadOptions{})
	var ids []string
	for _, w := range loaded {
		ids = append(ids, w.ID)
	}
	if got := strings.Join(ids, " "); got != "first second third" || len(faults) > 0 {
		t.Errorf("got %q and %v, want the files by name", got, told(dir, faults))
	}
	w := loaded[0]
	if w.Attempts != 3 || w.Backoff.String() != "1s" || w.MaxBackoff.String() != "30s" || w.QueueSize != 1024 {
		t.Errorf("defaults %+v", w)
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	dir := files(t, map[string]string{
		"1.yml": "webhooks: [", "2.yml": "a: 1\n---\nb: 2\n", "3.yml": "- a\n", "4.yml": "webhook: []\n", "5.yml": "webhooks: {id: a}\n", "6.yml": "webhooks: \xff\n", "8.yml": "silences: []\n",
	})
	if err := os.Symlink("missing", filepath.Join(dir, "7.yml")); err != nil {
		t.Fatal(err)
	}
	_, faults := webhook.Load([]string{filepath.Join(dir, "missing"), dir, filepath.Join(dir, "7.yml")}, webhook.LoadOptions{})
	got := strings.Join(told(dir, faults), "\n")
	for _, want := range []string{
		"webhooks 'missing' cannot be read: no such file or directory\n",
		"\n2.yml:3: the file cannot be read: a second document: one file has one document\n",
		"\n3.yml:1: want a mapping, got a list (a file of webhooks has one key, webhooks, with a list of them)\n",
		"\n4.yml:1: unknown key 'webhook' (did you mean 'webhooks'?)\n",
		"\n5.yml:1: field 'webhooks': want a list, got a mapping\n",
		"\n8.yml:1: unknown key 'silences' (a file of webhooks has one key, webhooks, with a list of them)\n",
		"\n6.yml: the file cannot be read: file is not UTF-8\n",
		"\n7.yml: the file cannot be read: no such file or directory\n",
		"\nwebhooks '7.yml' cannot be read: no such file or directory",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q:\n%s", want, got)
		}
	}
	if len(faults) != 10 {
		t.Errorf("%d faults, want 10:\n%s", len(faults), got)
	}
	if faults[0].Path != 0 || faults[1].Path != 1 || faults[9].Path != 2 {
		t.Error("a fault does not tell the path that led to it")
	}
}

// Whatever a file holds, it is loaded or refused with a fault that has a text, and what
// was loaded renders any result.
func FuzzLoad(f *testing.F) {
	for _, name := range []string{"slack", "jira", "thehive"} {
		text, err := os.ReadFile("../../../examples/webhooks/" + name + ".yml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(good + "    retry: {attempts: 0}\n    headers: {a: b, A: c}\n    tls: {ca: x}\n    signing: {secret_env: KEY, scheme: custom, custom: {value_format: '{'}}\n")
	r := detection(ast.Meta{Title: "a\"\n"}, `{"a":[1,{"b":null}]}`, "U", "\xff")
	file := filetest.New(f, "w.yml")
	f.Fuzz(func(t *testing.T, text string) {
		file.Hold(t, []byte(text))
		loaded, faults := webhook.Load([]string{file.Path}, webhook.LoadOptions{Getenv: vars(map[string]string{"KEY": "k"})})
		for _, fault := range faults {
			if fault.Error() == "" || fault.Err == nil || fault.Line < 0 {
				t.Errorf("fault %+v", fault)
			}
		}
		for _, w := range loaded {
			if w.Form().Accepts(graph.Payload{Result: r}) {
				_, m, err := rendered(w, r)
				if err == nil && m.Subject() != "" {
					if _, err := template.ParseURL([]byte(m.Subject())); err != nil {
						t.Errorf("URL %q: %v", m.Subject(), err)
					}
				}
				for _, h := range m.Headers() {
					if err := template.CheckHeader([]byte(h.Value)); err != nil {
						t.Errorf("header %q: %v", h.Value, err)
					}
				}
			}
		}
	})
}
