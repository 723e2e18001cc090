// Command manifests reads files of Kubernetes objects into the types of the API, and
// prints what these do not know: fields that do not exist or hold something else.
//
// It is a module of its own, so that the types are no dependency of the program.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

var kinds = map[string]func() any{
	"v1 Namespace":                       func() any { return new(corev1.Namespace) },
	"v1 Service":                         func() any { return new(corev1.Service) },
	"apps/v1 Deployment":                 func() any { return new(appsv1.Deployment) },
	"apps/v1 StatefulSet":                func() any { return new(appsv1.StatefulSet) },
	"policy/v1 PodDisruptionBudget":      func() any { return new(policyv1.PodDisruptionBudget) },
	"networking.k8s.io/v1 NetworkPolicy": func() any { return new(networkingv1.NetworkPolicy) },
}

func main() { os.Exit(run(os.Args[1:], os.Stdout)) }

func run(files []string, out io.Writer) (code int) {
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			fmt.Fprintln(out, err)
			return 1
		}
		for n, doc := range bytes.Split(raw, []byte("\n---\n")) {
			if err := check(doc); err != nil {
				fmt.Fprintf(out, "%s, object %d: %v\n", file, n+1, err)
				code = 1
			}
		}
	}
	return code
}

func check(doc []byte) error {
	var head struct{ APIVersion, Kind string }
	if err := yaml.Unmarshal(doc, &head); err != nil {
		return err
	}
	object, known := kinds[head.APIVersion+" "+head.Kind]
	if !known {
		return fmt.Errorf("%s %s is no kind that is known here", head.APIVersion, head.Kind)
	}
	return yaml.UnmarshalStrict(doc, object())
}
