package load_test

import (
	"fmt"

	"github.com/sluicehq/sluice/sigma/load"
)

func ExampleFromBytes() {
	rules := load.FromBytes("rules.yml", []byte(`
title: PowerShell
level: high
detection:
  selection:
    Image|endswith: \powershell.exe
  condition: selection
---
title: Broken
detection:
  selection:
    Image|endswit: \powershell.exe
    Address|cidr: 10.0.0.1
  condition: selection and filter
`), load.Options{})
	for _, r := range rules.Rules {
		fmt.Println("loaded", r.Title)
	}
	for _, p := range rules.Problems() {
		fmt.Println(p)
	}
	// Output:
	// loaded PowerShell
	// rules.yml:12: document 2 ("Broken"): Unknown modifier 'endswit' (did you mean 'endswith'?)
	// rules.yml:13: document 2 ("Broken"): invalid CIDR: 10.0.0.1
	// rules.yml:14: document 2 ("Broken"): unknown detection identifier: filter
}
