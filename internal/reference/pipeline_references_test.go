package reference_test

import (
	"os"
	"path/filepath"
	"testing"
)

// through pipelines that split an item, and that rename what values refer to.
func TestWhatPipelinesMakeOfAnItemMeansWhatTheItemMeans(t *testing.T) {
	vars := "vars: {known: [k1, k2], one: [x], percent: ['50%a%']}\ntransformations: [{type: value_placeholders}]\n"
	hashes := "transformations: [{type: hashes_fields, valid_hash_algos: [MD5, SHA1]}]\n"
	names := "transformations: [{type: field_name_mapping, mapping: {U: user.name, V: [v1, v2], W: w}}, {type: value_placeholders}]\nvars: {W: [win]}\n"
	for _, tc := range []struct {
		name, pipeline, detection string
		fires, silent             []string
	}{
		{
			"neq over a known and an open name holds where neither matches", vars, "{F|expand|neq: ['%known%', '%other%']}",
			[]string{`{"F":"z","other":"o"}`, `{"F":"z"}`},
			[]string{`{"F":"k1","other":"o"}`, `{"F":"k2"}`, `{"F":"o","other":"o"}`, `{"other":"o"}`},
		},
		{
			"neq over a list of texts and an open name", vars, "{F|expand|contains|neq: ['%one%', plain, '%other%-y']}",
			[]string{`{"F":"z","other":"o"}`},
			[]string{`{"F":"axb","other":"o"}`, `{"F":"a plain b","other":"o"}`, `{"F":"po-yp","other":"o"}`},
		},
		{
			"neq where an inserted text looks like a name", vars, "{F|expand|neq: ['%percent%', '%other%']}",
			[]string{`{"F":"50","other":"o"}`},
			[]string{`{"F":"50%a%","other":"o"}`, `{"F":"o","other":"o"}`},
		},
		{
			"without neq one of them suffices", vars, "{F|expand: ['%known%', '%other%']}",
			[]string{`{"F":"k2"}`, `{"F":"o","other":"o"}`},
			[]string{`{"F":"z","other":"o"}`},
		},
		{
			"neq over hashes holds where none of the values matches", hashes, "{Hashes|neq: ['SHA1=aa', 'MD5=bb']}",
			[]string{`{"FileSHA1":"cc","FileMD5":"cc"}`},
			[]string{`{"FileSHA1":"aa","FileMD5":"cc"}`, `{"FileSHA1":"cc","FileMD5":"bb"}`},
		},
		{
			"neq over a value of several hashes holds where one differs", hashes, "{Hashes|neq: ['SHA1=aa,MD5=bb', 'MD5=dd']}",
			[]string{`{"FileSHA1":"cc","FileMD5":"bb"}`, `{"FileSHA1":"aa","FileMD5":"cc"}`},
			[]string{`{"FileSHA1":"aa","FileMD5":"bb"}`, `{"FileSHA1":"aa","FileMD5":"dd"}`},
		},
		{
			"hashes without neq", hashes, "{Hashes: ['SHA1=aa,MD5=bb', 'MD5=dd']}",
			[]string{`{"FileSHA1":"aa","FileMD5":"bb"}`, `{"FileMD5":"dd"}`},
			[]string{`{"FileSHA1":"aa","FileMD5":"cc"}`},
		},
		{
			"a mapping renames the names of a template", names, `{P|expand: 'C:\Users\%U%\x'}`,
			[]string{`{"P":"c:\\users\\bob\\x","user":{"name":"Bob"}}`},
			[]string{`{"P":"c:\\users\\bob\\x","U":"Bob"}`},
		},
		{
			"several targets are alternatives", names, `{P|expand|startswith: '%V%-%U%'}`,
			[]string{`{"P":"a-b!","v1":"a","user.name":"b"}`, `{"P":"a-b!","v2":"a","user.name":"b"}`},
			[]string{`{"P":"a-b!","V":"a","user.name":"b"}`},
		},
		{
			"a name that is a variable is the variable's", names, `{P|expand: '%W%'}`,
			[]string{`{"P":"win"}`},
			[]string{`{"P":"x","w":"x"}`},
		},
		{
			"a mapping renames the field of a reference", names, `{P|fieldref: U}`,
			[]string{`{"P":"b","user.name":"B"}`},
			[]string{`{"P":"b","U":"b"}`},
		},
		{
			"a record's user data is found through a reference", "windows_evtx", "{A|fieldref: B}",
			[]string{`{"Event":{"EventData":{"A":"x","B":"X"}}}`, `{"Event":{"UserData":{"D":{"A":"x","B":"X"}}}}`, `{"Event":{"EventData":{"A":"x"},"UserData":{"D":{"B":"x"}}}}`},
			[]string{`{"Event":{"UserData":{"D":{"A":"x","B":"y"}}}}`, `{"Event":{"UserData":{"D":{"A":"x"}}},"B":"x"}`},
		},
		{
			"and under neq", "windows_evtx", "{A|fieldref|neq: B}",
			[]string{`{"Event":{"UserData":{"D":{"A":"x","B":"y"}}}}`},
			[]string{`{"Event":{"UserData":{"D":{"A":"x","B":"x"}}}}`, `{"Event":{"UserData":{"D":{"A":"x"}}}}`},
		},
		{
			"and with all", "windows_evtx", "{A|fieldref|contains|all: [B, EventID]}",
			[]string{`{"Event":{"System":{"EventID":{"#text":7}},"UserData":{"D":{"A":"x7","B":"x"}}}}`},
			[]string{`{"Event":{"System":{"EventID":8},"UserData":{"D":{"A":"x7","B":"x"}}}}`},
		},
		{
			"a record's data is found through a template", "windows_evtx", "{A|expand: '%B%-%EventID%'}",
			[]string{`{"Event":{"System":{"EventID":7},"EventData":{"A":"b-7","B":"B"}}}`, `{"Event":{"System":{"EventID":{"#text":7}},"UserData":{"D":{"A":"b-7","B":"B"}}}}`},
			[]string{`{"Event":{"System":{"EventID":7},"EventData":{"A":"b-7"}},"B":"b","EventID":7}`},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			name := tc.pipeline
			if name != "windows_evtx" {
				name = filepath.Join(t.TempDir(), "p.yml")
				if err := os.WriteFile(name, []byte(tc.pipeline), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			c := through(t, name, ruleWith("s: "+tc.detection+", condition: s"))
			for _, event := range tc.fires {
				if len(evaluate(t, c, event).detections) != 1 {
					t.Errorf("%s does not fire on %s", tc.detection, event)
				}
			}
			for _, event := range tc.silent {
				if len(evaluate(t, c, event).detections) != 0 {
					t.Errorf("%s fires on %s", tc.detection, event)
				}
			}
		})
	}
}
