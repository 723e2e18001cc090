package daemon

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluicehq/sluice/sources"
	"github.com/sluicehq/sluice/state"
)

// A place is where a life of the child ends: in the so manieth call there.
type place struct {
	name string // empty for nowhere
	call int
}

// haunted stops the process at a place, to be killed there.
type haunted struct {
	sources.Positions
	out io.Writer

	mu sync.Mutex
	place
}

func (h *haunted) at(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.name != name {
		return
	}
	if h.call--; h.call == 0 {
		fmt.Println("# stopped")
		select {}
	}
}

// Cover comes when everything before the barrier has ended, and before the head is
// written.
func (h *haunted) Cover(epoch uint64) ([]state.Position, []state.Covered) {
	h.at("before the head")
	return h.Positions.Cover(epoch)
}

// Saved comes when the head is written, and before anything is acknowledged for it.
func (h *haunted) Saved(epoch uint64) {
	h.at("behind the head")
	h.Positions.Saved(epoch)
}

func (h *haunted) Write(b []byte) (int, error) {
	h.at("inside the sink")
	return h.out.Write(b)
}

const childStream, childMode, childPlace = "SLUICE_DAEMON_TEST_STREAM", "SLUICE_DAEMON_TEST_MODE", "SLUICE_DAEMON_TEST_PLACE"

// followStream is the life of a child: it saves all the time and prints results,
// until its standard input ends. Then it prints what the windows hold and stops.
func followStream(dir, addr string) {
	h := &haunted{out: os.Stdout}
	_, _ = fmt.Sscanf(os.Getenv(childPlace), "%d %q", &h.call, &h.name)
	dial := func() (net.Conn, error) { return net.Dial("tcp", addr) }
	d, err := streamed(dir, os.Getenv(childMode), dial, h, slog.New(slog.NewTextHandler(os.Stderr, nil)), nil)
	if err != nil {
		panic(err)
	}
	d.checkpointer.interval = 5 * time.Millisecond
	h.Positions, d.checkpointer.inputs[0] = d.checkpointer.inputs[0], h
	if err := d.Start(); err != nil {
		panic(err)
	}
	fmt.Println("# started")
	_, _ = io.Copy(io.Discard, os.Stdin)
	count, distinct := d.totals()
	if err := d.Stop(); err != nil {
		panic(err)
	}
	fmt.Println("#", count, distinct)
	os.Exit(0)
}

// life is one run of a child.
type life struct {
	cmd   *exec.Cmd
	in    io.Closer
	out   *bufio.Scanner
	log   strings.Builder
	fired map[string]bool // the correlation results of all lives
}

func (l *life) kill() { _ = l.cmd.Process.Kill() }

// read reads what the child prints until it says what is wanted, or is dead.
func (l *life) read(want string) (said string) {
	for l.out.Scan() {
		line := l.out.Text()
		if strings.HasPrefix(line, "#") && strings.HasPrefix(line, want) {
			return line
		}
		if strings.Contains(line, `"correlation_type"`) {
			l.fired[line] = true
		}
	}
	return ""
}

// finish ends the child when everything is acknowledged.
func (l *life) finish(s *Stream) {
	for slices.Contains(s.Acks(), 0) {
		time.Sleep(time.Millisecond)
	}
	_ = l.in.Close()
}

func begin(t *testing.T, dir, mode string, s *Stream, at place, fired map[string]bool) *life {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &life{cmd: exec.Command(os.Args[0]), fired: fired}
	l.cmd.Env = append(os.Environ(), childDir+"="+dir, childStream+"="+listener.Addr().String(), childMode+"="+mode,
		fmt.Sprintf("%s=%d %q", childPlace, at.call, at.name))
	l.cmd.Stderr = &l.log
	out, err := l.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if l.in, err = l.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	l.out = bufio.NewScanner(out)
	if err := l.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	go s.Serve(conn)
	return l
}

// A daemon is killed at every place that matters, again and again on the same
// state, while its stream delivers in any order and loses acknowledgements.
func TestAKilledDaemonCountsWhatItsStreamDeliversAgain(t *testing.T) {
	t.Parallel()
	deaths := []struct {
		name    string
		at      place
		acks    int           // kill at so manieth acknowledgement of the life
		after   time.Duration // kill
		lose    bool          // acknowledgements
		unheard bool          // confirmations get lost
	}{
		{name: "before anything is saved", after: time.Millisecond},
		{name: "before the first head", at: place{"before the head", 1}},
		{name: "before a later head", at: place{"before the head", 4}},
		{name: "behind the first head", at: place{"behind the head", 1}},
		{name: "behind a later head", at: place{"behind the head", 4}},
		{name: "behind a head, in the middle of the acknowledgements", acks: 7},
		{name: "with results that no sink has taken", at: place{"inside the sink", 20}},
		{name: "with acknowledgements on their way", lose: true, after: 60 * time.Millisecond},
		{name: "with confirmations on their way", unheard: true, after: 60 * time.Millisecond},
		{name: "at any time", after: 20 * time.Millisecond},
		{name: "at any later time", after: 50 * time.Millisecond},
	}
	const perLife = 40
	events := perLife * (2*len(deaths) + 1)
	want := uninterrupted(t, events)
	for _, mode := range []string{"snapshot", "delivered"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeRules(t, dir)
			var mu sync.Mutex
			onAck := func() {}
			random := rand.New(rand.NewPCG(3, 4))
			s := NewStream(StreamOptions{Pending: pending, Shuffle: random, OnAck: func(int) {
				mu.Lock()
				defer mu.Unlock()
				onAck()
			}})
			published := 0
			publish := func() {
				for range perLife {
					s.Publish(event(published))
					published++
				}
			}
			fired := make(map[string]bool)
			for range 2 {
				for _, death := range deaths {
					publish()
					s.LoseAcks(death.lose, death.unheard)
					l := begin(t, dir, mode, s, death.at, fired)
					left := death.acks
					mu.Lock()
					onAck = func() {
						if left--; left == 0 {
							l.kill()
						}
					}
					mu.Unlock()
					switch {
					case death.at.name != "":
						time.AfterFunc(2*time.Minute, l.kill)
						if l.read("# stopped") == "" {
							t.Fatalf("%s: the child did not get there:\n%s", death.name, l.log.String())
						}
						l.kill()
					case death.after > 0:
						l.read("# started")
						time.AfterFunc(death.after, l.kill)
					}
					l.read("# dead")
					_ = l.cmd.Wait()
					if log := l.log.String(); strings.Contains(log, "level=WARN") || strings.Contains(log, "level=ERROR") || strings.Contains(log, "panic") {
						t.Fatalf("%s: the child complained:\n%s", death.name, log)
					}
				}
			}
			publish()
			s.LoseAcks(false, false)
			l := begin(t, dir, mode, s, place{}, fired)
			go l.finish(s)
			l.read("# started")
			var count, distinct int
			_, err := fmt.Sscanf(l.read("# "), "# %d %d", &count, &distinct)
			if waited := l.cmd.Wait(); err != nil || waited != nil {
				t.Fatalf("the last life ended with %v, %v:\n%s", err, waited, l.log.String())
			}
			if count != distinct {
				t.Errorf("the windows hold %d events of which %d are different, want none twice", count, distinct)
			}
			if mode == "delivered" {
				t.Logf("%d of %d events are in the windows", distinct, events)
				return
			}
			if distinct != events {
				t.Errorf("the windows hold %d events, want all %d", distinct, events)
			}
			if !maps.Equal(fired, want) {
				t.Errorf("%d different results, want the %d of an uninterrupted run", len(fired), len(want))
			}
		})
	}
}
