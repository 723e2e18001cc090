package fetch

import "testing"

func TestFingerprintsTellPlacesAndFormsApart(t *testing.T) {
	feed := Declaration{ID: "a", Type: HTTP, Format: JSON, URL: "https://feeds.example/", Method: "POST", Body: `{"list":"a"}`, HasBody: true}
	for _, tc := range []struct {
		name   string
		change func(d *Declaration)
		same   bool
	}{
		{"nothing is changed", func(*Declaration) {}, true},
		{"another body", func(d *Declaration) { d.Body = `{"list":"b"}` }, true},
		{"another header", func(d *Declaration) { d.Headers = []Header{{"Authorization", "Bearer x"}} }, true},
		{"another timeout", func(d *Declaration) { d.Timeout = 1 }, true},
		{"another URL", func(d *Declaration) { d.URL += "b" }, false},
		{"another method", func(d *Declaration) { d.Method = "PUT" }, false},
		{"another format", func(d *Declaration) { d.Format = Lines }, false},
		{"an expression", func(d *Declaration) { d.Extract = &Extract{Expr: "."} }, false},
		{"a file of the same name", func(d *Declaration) { d.Type, d.Path = File, d.URL }, false},
		{"a program of the same words", func(d *Declaration) { d.Type, d.Argv = Command, []string{d.URL, d.Method} }, false},
		{"a subject of the same name", func(d *Declaration) { d.Type, d.Subject = NATS, d.Method }, false},
	} {
		changed := feed
		tc.change(&changed)
		if same := changed.Fingerprint() == feed.Fingerprint(); same != tc.same {
			t.Errorf("%s: the same fingerprint: %t, want %t", tc.name, same, tc.same)
		}
	}
}
