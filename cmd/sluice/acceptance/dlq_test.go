package acceptance

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A disk that is full for a while costs nothing: the dead letters hold what is missing,
// and a replay brings exactly that.
func TestAReplayDeliversExactlyWhatWasMissing(t *testing.T) {
	dir := t.TempDir()
	rules := write(t, dir, "r.yml", rule("A", "evil"))
	found, dead := filepath.Join(dir, "found"), filepath.Join(dir, "dead")
	if err := os.Symlink("/dev/full", found); err != nil {
		t.Fatal(err)
	}
	d := start(t, "-r", rules, "--input", "http", "--input-format", "json", "--output", "file://"+found, "--sink-retry-max", "0", "--dlq", "file://"+dead)
	push := func(from, to int) (events []string) {
		for i := from; i < to; i++ {
			events = append(events, event(fmt.Sprintf("evil %d", i)))
		}
		d.push(events...)
		return events
	}
	push(0, 40)
	d.push("this is no JSON")
	if err := os.Remove(found); err != nil { // the disk has room again
		t.Fatal(err)
	}
	d.signal(syscall.SIGHUP)
	d.await("reload", func() bool {
		return strings.Contains(d.stderr.String(), `"message":"reloaded"`) || d.metric("svc_reloads_total") >= 1
	})
	push(40, 50)

	listed := sluice(t, "", "dlq", "list", dead)
	if listed.code != 0 || !strings.Contains(listed.stderr, "1 parse, ") || len(wholeLines(listed.stdout)) < 2 {
		t.Fatalf("list: exit code %d, %s%s", listed.code, listed.stdout, listed.stderr)
	}
	got := sluice(t, "", "dlq", "replay", dead, "--to", "file://"+found)
	if got.code != 0 || !strings.Contains(got.stderr, "1 dead letter with lines left out") {
		t.Fatalf("replay: exit code %d, %s", got.code, got.stderr)
	}
	want := make(map[string]int)
	for i := range 50 {
		want[resultLine("A", fmt.Sprintf("evil %d", i))] = 1
	}
	check := func() {
		t.Helper()
		have := make(map[string]int)
		for _, line := range output(found).lines() {
			have[line]++
		}
		for line := range want {
			if have[line] != 1 {
				t.Errorf("%d times in the file: %s", have[line], line)
			}
		}
		if len(have) != len(want) {
			t.Errorf("%d different results, want %d", len(have), len(want))
		}
	}
	check()
	again := sluice(t, "", "dlq", "replay", dead, "--to", "file://"+found)
	if again.code != 0 || !strings.Contains(again.stderr, "replayed nothing\n") {
		t.Errorf("the second replay: exit code %d, %s", again.code, again.stderr)
	}
	check()
	// The line that could not be read goes back to the daemon, which now takes any text.
	d.stop()
	d = start(t, "-r", rules, "--input", "http", "--input-format", "plain", "--output", "file://"+found)
	lines := sluice(t, "", "dlq", "replay", dead, "--addr", d.addr)
	if lines.code != 0 || !strings.Contains(lines.stderr, "replayed 1 line to http://"+d.addr+"\n") {
		t.Errorf("the replay of lines: exit code %d, %s", lines.code, lines.stderr)
	}
	if n := d.metric("svc_events_processed_total"); n != 1 {
		t.Errorf("the daemon got %v lines, want 1", n)
	}
	d.stop()
}

// A replay that is killed goes on, and repeats at most the batch that was under way.
func TestAReplayThatIsKilledGoesOn(t *testing.T) {
	const lines, batch = 2400, 500
	dir := t.TempDir()
	var text strings.Builder
	for i := range lines {
		fmt.Fprintf(&text, `{"original_event":"line %04d","error":"parse error","timestamp":"2026-03-01T10:00:00Z","stage":"parse"}`+"\n", i)
	}
	dead := write(t, dir, "dead", text.String())
	var (
		mu    sync.Mutex
		seen  = make(map[string]int)
		posts int
	)
	reached := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got := wholeLines(string(body))
		mu.Lock()
		for _, line := range got {
			seen[line]++
		}
		posts++
		now := posts
		mu.Unlock()
		if now == 2 || now == 4 {
			meet(reached)
			<-r.Context().Done() // no answer ever comes
			return
		}
		fmt.Fprintf(w, `{"accepted":%d}`, len(got))
	}))
	defer server.Close()
	rounds := 0
	for ended := false; !ended; rounds++ {
		got := finishAt(t, command(t, "dlq", "replay", dead, "--addr", server.URL), reached, syscall.SIGKILL)
		ended = got.code == 0
		if rounds > 5 {
			t.Fatal(got.stderr)
		}
	}
	repeated := 0
	for i := range lines {
		n := seen[fmt.Sprintf("line %04d", i)]
		if n == 0 {
			t.Fatalf("line %d was lost", i)
		}
		repeated += n - 1
	}
	if rounds != 3 || repeated > 2*batch || repeated == 0 {
		t.Errorf("%d lines were repeated in %d rounds, want at most the two batches under way", repeated, rounds)
	}
}

// A replay that is told to end ends what is under way and knows how far it came.
func TestAReplayThatIsInterruptedKnowsHowFarItCame(t *testing.T) {
	dir := t.TempDir()
	dead := write(t, dir, "dead", strings.Repeat(`{"original_event":"x","error":"parse error","timestamp":"2026-03-01T10:00:00Z","stage":"parse"}`+"\n", 10))
	var mu sync.Mutex
	total := 0
	reached := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		total += len(wholeLines(string(body)))
		n := total
		mu.Unlock()
		if n == 2 {
			meet(reached)
		}
		fmt.Fprintf(w, `{"accepted":%d}`, len(wholeLines(string(body))))
	}))
	defer server.Close()
	cmd := command(t, "dlq", "replay", dead, "--rate", "4", "--addr", server.URL)
	got := finishAt(t, cmd, reached, syscall.SIGINT)
	if got.code != 130 || !strings.Contains(got.stderr, "replayed 2 lines to ") {
		t.Errorf("exit code %d, %s", got.code, got.stderr)
	}
	rest := sluice(t, "", "dlq", "replay", dead, "--addr", server.URL)
	if rest.code != 0 || !strings.Contains(rest.stderr, "replayed 8 lines to ") || total != 10 {
		t.Errorf("exit code %d, %d lines, %s", rest.code, total, rest.stderr)
	}
}

// finishAt runs a command to its end and sends it a signal where a server that
// it talks to meets it, if that happens at all.
func finishAt(t *testing.T, cmd *exec.Cmd, reached <-chan struct{}, signal os.Signal) outcome {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	over, told := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(told)
		select {
		case <-reached:
			_ = cmd.Process.Signal(signal)
			<-reached
		case <-over:
		}
	}()
	timer := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	_ = cmd.Wait()
	close(over)
	<-told
	return outcome{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// meet waits until finishAt has sent its signal.
func meet(reached chan<- struct{}) {
	reached <- struct{}{}
	reached <- struct{}{}
}
