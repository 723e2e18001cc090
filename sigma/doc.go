// Package sigma evaluates events against Sigma rules.
//
//	detector, err := sigma.Open(os.DirFS("rules"))
//	if err != nil {
//		log.Fatal(err)
//	}
//	found, err := detector.Detect([]byte(`{"CommandLine": "whoami /all"}`), time.Now())
//	if err != nil {
//		log.Fatal(err)
//	}
//	for _, d := range found.Detections {
//		fmt.Println(d.Rule.Level, d.Rule.Title)
//	}
//
// A Detector is one goroutine's view of the packages below, which programs may also
// use on their own: package load reads rules into the trees of package ast and rejects
// the faulty ones, package pipeline rewrites them, package engine evaluates them in
// parallel, and package correlation counts their matches over time. Package result
// holds what a detection says.
package sigma
