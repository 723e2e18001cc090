package acceptance

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/sluicehq/sluice/internal/sigmatest"
)

// apart runs a function in a network and with names of its own: it has the addresses, and a
// file in the place of /etc/hosts. What is listened on and started there belongs there.
func apart(t *testing.T, hosts string, addresses []string, run func()) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root may make a network")
	}
	ip := sigmatest.Tool(t, "ip", "iproute2")
	file := write(t, t.TempDir(), "hosts", hosts)
	enter := func() error {
		if err := syscall.Unshare(syscall.CLONE_NEWNET | syscall.CLONE_NEWNS); err != nil {
			return err
		}
		if err := syscall.Mount("", "/", "", syscall.MS_PRIVATE|syscall.MS_REC, ""); err != nil {
			return err
		}
		if err := syscall.Mount(file, "/etc/hosts", "", syscall.MS_BIND, ""); err != nil {
			return err
		}
		commands := [][]string{{"link", "set", "lo", "up"}}
		for _, a := range addresses {
			commands = append(commands, []string{"address", "add", a + "/32", "dev", "lo"})
		}
		for _, args := range commands {
			if out, err := exec.Command(ip, args...).CombinedOutput(); err != nil {
				return fmt.Errorf("ip %v: %w: %s", args, err, out)
			}
		}
		return nil
	}
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // for good: the thread ends with its network
		if err = enter(); err == nil {
			run()
		}
	}()
	<-done
	if err != nil {
		t.Skipf("a network cannot be made here: %v", err)
	}
}

// Of a name that leads to a private and a public address, the strict policy has the public
// one dialled and the other left alone, however the two are ordered.
func TestOfANameTheStrictPolicyDialsThePublicAddress(t *testing.T) {
	for _, order := range [][]string{{"10.1.1.1", "8.8.8.8"}, {"8.8.8.8", "10.1.1.1"}} {
		t.Run(order[0]+" first", func(t *testing.T) {
			var asked [2]atomic.Int32
			hosts := ""
			for _, a := range order {
				hosts += a + " feed.example\n"
			}
			apart(t, hosts, order, func() {
				dir := t.TempDir()
				port := "0"
				for i, a := range []string{"8.8.8.8", "10.1.1.1"} {
					l, err := net.Listen("tcp", net.JoinHostPort(a, port))
					if err != nil {
						t.Error(err)
						return
					}
					_, port, _ = net.SplitHostPort(l.Addr().String())
					s := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
						asked[i].Add(1)
						_, _ = fmt.Fprint(w, []string{`["evil"]`, `["mal"]`}[i])
					})}}
					s.Start()
					t.Cleanup(s.Close)
				}
				fed(t, dir)
				write(t, dir, "sources.yml", "sources: [{id: blocked, type: http, format: json, url: 'http://feed.example:"+port+"/'}]\n")
				cmd := command(t, "engine", "daemon", "-r", "rules", "-p", "lists.yml", "--source", "sources.yml", "--egress-policy", "strict", "--api-addr", "127.0.0.1:0")
				cmd.Dir = dir
				got := finish(t, cmd, commandLine("mal.exe")+"\n"+commandLine("evil.exe")+"\n")
				if d := (&daemon{t: t, stdout: output(write(t, dir, "stdout", got.stdout))}); got.code != 0 || d.detected() != "evil.exe" {
					t.Errorf("code %d, %s, want what the public address lists\n%s", got.code, got.stdout, got.stderr)
				}
			})
			if public, private := asked[0].Load(), asked[1].Load(); public != 1 || private != 0 {
				t.Errorf("the public address was asked %d times and the private one %d, want once and never", public, private)
			}
		})
	}
}
