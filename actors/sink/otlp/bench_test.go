package otlp_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/otlp/otlptest"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/result"
)

// receive is set in a process that receives for a benchmark, so that what it costs is not
// the benchmark's: "grpc" or "http".
const receive = "SLUICE_TEST_RECEIVE"

func TestMain(m *testing.M) {
	if protocol := os.Getenv(receive); protocol != "" {
		if err := otlptest.Serve(protocol); err != nil {
			panic(err)
		}
		return
	}
	leaktest.Main(m)
}

// receiver starts a process that receives, and returns its address.
func receiver(b *testing.B, protocol string) string {
	b.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), receive+"="+protocol)
	in, err := c.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		_ = c.Wait()
	})
	var address string
	if _, err := fmt.Fscanln(out, &address); err != nil {
		b.Fatal(err)
	}
	return address
}

// sets are result sets as events leave them, each with one detection.
func sets() (all []*graph.ResultSet) {
	for i := range 64 {
		rule := result.NewRule(i, &ast.Rule{Meta: ast.Meta{
			Title: fmt.Sprintf("Suspicious PowerShell Invocation %d", i), ID: "3f0c7a52-6f5d-4f0e-8b0e-0a4c7d1e5b11", Level: ast.LevelHigh,
			Tags: []string{"attack.execution", "attack.t1059.001"},
		}})
		d := &result.Detection{Rule: rule, Selections: result.NewSelections(rule, []string{"selection_img", "selection_cli"}), Fields: []result.Field{
			{Name: "Image", Value: []byte(`"C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe"`)},
			{Name: "CommandLine", Value: []byte(`"powershell.exe -NoProfile -EncodedCommand SQBFAFgAIAAoAE4AZQB3AC0ATwBiAGoAZQBjAHQA"`)},
			{Name: "EventID", Value: []byte("4688")},
		}}
		all = append(all, &graph.ResultSet{Results: []graph.Result{{Detection: d}}, Held: d.Size()})
	}
	return all
}

// cpu is the processor time that the process has taken.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Results per second of processor time, from rendering to the destination. That of the
// file is what the others are compared with.
func BenchmarkDelivery(b *testing.B) {
	for _, tc := range []struct{ name, spec string }{
		{"file", "file://" + filepath.Join(b.TempDir(), "out")},
		{"grpc", "otlp://"},
		{"grpc zipped", "otlp://?compression=gzip"},
		{"http", "otlphttp://"},
		{"http zipped", "otlphttp://?compression=gzip"},
	} {
		b.Run(tc.name, func(b *testing.B) {
			text := tc.spec
			if scheme, rest, _ := strings.Cut(text, "://"); scheme != "file" {
				text = scheme + "://" + receiver(b, map[string]string{"otlp": "grpc", "otlphttp": "http"}[scheme]) + rest
			}
			spec, _, err := sink.ParseSpec(text, sink.RoleFindings)
			if err != nil {
				b.Fatal(err)
			}
			env := sink.Environment{Now: time.Now, Version: "1.0.0", Log: slog.New(slog.DiscardHandler)}
			transport, err := sink.Open(spec, env)
			if err != nil {
				b.Fatal(err)
			}
			metrics, err := sink.NewMetrics(prometheus.NewRegistry())
			if err != nil {
				b.Fatal(err)
			}
			s, err := sink.New(sink.Options{
				Label: "bench", Kind: spec.Kind, OnFull: sink.Block, Form: spec.Form(env), Transport: transport, Retry: sink.DefaultRetry(),
				BatchMax: 64, Linger: 50 * time.Millisecond, Capacity: 10_000, Bytes: 64 << 20, Metrics: metrics, Log: env.Log,
			})
			if err != nil {
				b.Fatal(err)
			}
			system := actors.NewSystem(actors.Options{MaxRestarts: 10})
			if _, err := system.Spawn(s.Cell(), s.Produce); err != nil {
				b.Fatal(err)
			}
			render, all := step.NewRender([]graph.Form{s.Form()}), sets()
			var bundles []*graph.Bundle
			ctx := context.Background()
			b.ReportAllocs()
			begin, n := cpu(b), 0
			for b.Loop() {
				render.Piece(all[n%len(all)], 0, graph.DeliveryID{}, time.Unix(1_700_000_000, 0))
				render.Add(graph.Token{})
				if bundle := render.Begun(0); bundle != nil {
					bundles = append(bundles, bundle)
				}
				if n++; n%len(all) == 0 { // together, as dispatch has them leave
					if _, err := s.Lane().Put(ctx, bundles); err != nil {
						b.Fatal(err)
					}
					bundles = bundles[:0]
					render.Close()
				}
			}
			system.Drain(ctx)
			b.ReportMetric(float64(n)/(cpu(b)-begin).Seconds(), "results/cpu-s")
			if d := system.Detail(ctx, "sink:bench"); d != nil {
				if d := d.(sink.Detail); d.Retries != 0 || d.DeliveryFailures != 0 {
					b.Errorf("not everything was delivered: %+v", d)
				}
			}
			if err := system.Stop(ctx); err != nil {
				b.Fatal(err)
			}
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
