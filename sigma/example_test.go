package sigma_test

import (
	"fmt"
	"testing/fstest"
	"time"

	"github.com/sluicehq/sluice/sigma"
)

func Example() {
	rules := fstest.MapFS{"whoami.yml": {Data: []byte(`
title: Reconnaissance
level: medium
detection:
  selection:
    CommandLine|contains: whoami
  condition: selection
`)}} // or os.DirFS("rules")
	detector, err := sigma.Open(rules)
	if err != nil {
		fmt.Println(err)
		return
	}
	found, err := detector.Detect([]byte(`{"CommandLine": "whoami /all"}`), time.Now())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range found.Detections {
		fmt.Println(d.Rule.Level, d.Rule.Title)
		fmt.Println(string(d.AppendNative(nil, nil)))
	}
	// Output:
	// medium Reconnaissance
	// {"rule_title":"Reconnaissance","rule_id":null,"level":"medium","tags":[],"matched_selections":["selection"],"matched_fields":[{"field":"CommandLine","value":"whoami /all"}]}
}
