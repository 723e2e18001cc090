package sigmatest

import (
	"fmt"
	"math/rand/v2"
)

// LineKinds lists the kinds of lines that FormatLines makes, each with its input format.
func LineKinds() []LineKind {
	return []LineKind{
		{"RFC 5424", "syslog", rfc5424},
		{"RFC 5424 with data", "syslog", rfc5424WithData},
		{"RFC 3164", "syslog", rfc3164},
		{"syslog with JSON", "syslog", syslogWithJSON},
		{"logfmt", "logfmt", logfmt},
		{"CEF", "cef", cef},
		{"CEF in syslog", "cef", func(r *rand.Rand) string { return "<134>Mar  1 10:00:00 fw01 " + cef(r) }},
	}
}

// LineKind is a kind of lines as programs and appliances write them.
type LineKind struct {
	Name, Format string
	line         func(r *rand.Rand) string
}

// Lines makes so many lines, always the same.
func (k LineKind) Lines(n int) [][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	out := make([][]byte, n)
	for i := range out {
		out[i] = []byte(k.line(r))
	}
	return out
}

func pick(r *rand.Rand, from ...string) string { return from[r.IntN(len(from))] }

func address(r *rand.Rand) string {
	return fmt.Sprintf("10.%d.%d.%d", r.IntN(256), r.IntN(256), r.IntN(256))
}

func user(r *rand.Rand) string { return pick(r, "root", "ana", "deploy", "svc-backup", "bob.miller") }

func host(r *rand.Rand) string { return fmt.Sprintf("%s%02d", pick(r, "web", "db", "gw"), r.IntN(20)) }

func sshd(r *rand.Rand) string {
	switch r.IntN(3) {
	case 0:
		return fmt.Sprintf("Failed password for invalid user %s from %s port %d ssh2", user(r), address(r), 1024+r.IntN(60000))
	case 1:
		return fmt.Sprintf("Accepted publickey for %s from %s port %d ssh2: ED25519 SHA256:pX%dkq0aZ2m", user(r), address(r), 1024+r.IntN(60000), r.IntN(1e9))
	}
	return fmt.Sprintf("pam_unix(sshd:session): session opened for user %s(uid=%d) by (uid=0)", user(r), r.IntN(2000))
}

func instant(r *rand.Rand) string {
	return fmt.Sprintf("2026-03-%02dT%02d:%02d:%02d.%06dZ", 1+r.IntN(9), r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(1e6))
}

func rfc5424(r *rand.Rand) string {
	return fmt.Sprintf("<38>1 %s %s.example.com sshd %d - - %s", instant(r), host(r), 1+r.IntN(60000), sshd(r))
}

func rfc5424WithData(r *rand.Rand) string {
	return fmt.Sprintf(`<165>1 %s %s.example.com nginx %d REQ%d [meta@32473 client="%s" method="%s" status="%d"][origin software="nginx \"edge\"" swVersion="1.29"] %s /api/v1/items/%d took %d ms`,
		instant(r), host(r), 1+r.IntN(60000), r.IntN(100), address(r), pick(r, "GET", "POST"), 200+r.IntN(300), pick(r, "GET", "POST"), r.IntN(1e6), r.IntN(1000))
}

func rfc3164(r *rand.Rand) string {
	at := fmt.Sprintf("Mar %2d %02d:%02d:%02d", 1+r.IntN(9), r.IntN(24), r.IntN(60), r.IntN(60))
	switch r.IntN(3) {
	case 0:
		return fmt.Sprintf("<189>%s dist-sw%02d %%AAA-5-USER_LOGGED: User %s executed: copy running-config tftp://%s/rc.cfg", at, r.IntN(20), user(r), address(r))
	case 1:
		return fmt.Sprintf("<78>%s %s CRON[%d]: (%s) CMD (/usr/lib/sysstat/debian-sa1 %d 1)", at, host(r), 1+r.IntN(60000), user(r), r.IntN(10))
	}
	return fmt.Sprintf("<38>%s %s sshd[%d]: %s", at, host(r), 1+r.IntN(60000), sshd(r))
}

func syslogWithJSON(r *rand.Rand) string {
	return fmt.Sprintf(`<134>1 %s %s audit - - - {"EventID":%d,"user":"%s","src":"%s","Image":"C:\\Windows\\System32\\%s.exe","ok":%t,"msg":"%s"}`,
		instant(r), host(r), 4000+r.IntN(1000), user(r), address(r), pick(r, "cmd", "whoami", "net"), r.IntN(2) == 0, sshd(r))
}

func logfmt(r *rand.Rand) string {
	return fmt.Sprintf(`ts=%s level=%s caller=server.go:%d component=http msg="%s" method=%s path=/api/v1/items/%d status=%d duration=%dms remote=%s user=%s trace=%016x cached`,
		instant(r), pick(r, "info", "warn", "debug"), r.IntN(900), pick(r, "request done", `cannot read \"conf.yml\"`, "connection reset by peer"),
		pick(r, "GET", "POST"), r.IntN(1e6), 200+r.IntN(300), r.IntN(900), address(r), user(r), r.Uint64())
}

func cef(r *rand.Rand) string {
	return fmt.Sprintf(`CEF:0|Acme|Firewall|10.2|%d|%s|%d|rt=%d src=%s spt=%d dst=%s dpt=%d proto=%s act=%s suser=%s request=https://www.example.com/login?next\=/home&id\=%d msg=%s cs1Label=Rule cs1=%s`,
		r.IntN(500), pick(r, "Traffic allowed", `Blocked \| dropped`, "Login failed"), r.IntN(10), 1772359200000+r.IntN(1e9), address(r), 1024+r.IntN(60000),
		address(r), []int{22, 53, 80, 443}[r.IntN(4)], pick(r, "TCP", "UDP"), pick(r, "allow", "deny"), user(r), r.IntN(1e6), pick(r, "session closed by peer", "too many attempts", "policy 7 applied"),
		pick(r, "default deny", "web out"))
}
