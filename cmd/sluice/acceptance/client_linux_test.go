package acceptance

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Every client command reaches a daemon on a unix socket, and says what is in its way.
func TestClientsReachADaemonOnAUnixSocket(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	dead := write(t, dir, "dead.ndjson", `{"original_event":"{\"C\":\"evil\"}","error":"parse error","timestamp":"2026-03-01T10:00:00Z","stage":"parse"}`+"\n")
	socket := filepath.Join(dir, "s")
	at := "unix://" + socket
	d := startIn(t, dir, "-r", "rules", "--input", "http", "--api-addr", at)
	run := func(cmd *exec.Cmd, env ...string) outcome {
		t.Helper()
		cmd.Env = append(cmd.Env, env...)
		return finish(t, cmd, "")
	}
	want := func(what string, got outcome, code int, out, errs string) {
		t.Helper()
		if got.code != code || !strings.Contains(got.stdout, out) || !strings.Contains(got.stderr, errs) || errs == "" && got.stderr != "" {
			t.Errorf("%s: code %d, stdout %q, stderr %q, want %d, %q, %q", what, got.code, got.stdout, got.stderr, code, out, errs)
		}
	}
	want("status", run(command(t, "engine", "status", "--addr", at)), 0, `"status":"running"`, "")
	want("status by variable", run(command(t, "engine", "status"), "SLUICE_ADDR="+at), 0, `"status":"running"`, "")
	want("reload", run(command(t, "config", "reload", "--wait=2m", "--addr", at)), 0, "", "reload requested: /api/v1/reload over "+at+"\nreloaded\n")
	want("replay", run(command(t, "dlq", "replay", dead, "--addr", at)), 0, "", "replayed 1 line to "+at+"\n")
	if got := d.stdout.lines(); len(got) != 1 || got[0] != resultLine("A", "evil") {
		t.Errorf("the replay gave %q", got)
	}
	want("TLS", run(command(t, "engine", "status", "--addr", at, "--ca", write(t, dir, "none.pem", ""))), 3, "", "--ca: "+dir+"/none.pem: the file is empty\n")

	// What another user meets; root is bound by permissions here, too.
	if err := os.Chmod(socket, 0); err != nil {
		t.Fatal(err)
	}
	want("no permission", run(bounded(t, "engine", "status", "--addr", at)), 3, "",
		"sluice: GET /api/v1/status over "+at+": dial unix "+socket+": connect: permission denied (a socket is for the user of the daemon alone: run this command as that user)\n")
	want("replay without permission", run(bounded(t, "dlq", "replay", dead, "--restart", "--addr", at)), 3, "", "run this command as that user)\n")

	d.signal(syscall.SIGKILL)
	d.wait()
	want("killed", run(command(t, "engine", "status", "--addr", at)), 3, "", ": connect: connection refused (nobody listens on the socket: is the daemon running?)\n")
	if err := os.Remove(socket); err != nil {
		t.Fatal(err)
	}
	want("gone", run(command(t, "dlq", "replay", dead, "--restart", "--addr", at)), 3, "", ": connect: no such file or directory (is the daemon running? --addr says where)\n")
}
