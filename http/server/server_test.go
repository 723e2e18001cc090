package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

var loopback = func() Address {
	a, err := ParseAddress("127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	return a
}()

// serve starts a server that the test's end stops.
func serve(t *testing.T, a Address, h http.Handler) *Server {
	t.Helper()
	s, err := Listen(a, quiet())
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(h) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return s
}

func dial(t *testing.T, s *Server) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(2 * time.Minute))
	return c
}

func ok(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") }

func TestTheBoundPortIsReportedBeforeServing(t *testing.T) {
	var log bytes.Buffer
	s, err := Listen(loopback, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(s.Addr().String(), ":0") {
		t.Errorf("got %s, want the real port", s.Addr())
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(http.HandlerFunc(ok)) }()
	resp, err := http.Get("http://" + s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	s.Close()
	if err := <-done; err != nil {
		t.Errorf("Serve: %v", err)
	}
	if want := `msg="probes listening" addr=` + s.Addr().String(); !strings.Contains(log.String(), want) {
		t.Errorf("got log %q, want %q in it", log.String(), want)
	}
	if _, err := net.Dial("tcp", s.Addr().String()); err == nil {
		t.Error("the port still answers after Close")
	}
}

func TestAnAddressInUseIsAnError(t *testing.T) {
	s := serve(t, loopback, http.HandlerFunc(ok))
	if _, err := Listen(s.Addr(), quiet()); err == nil || !strings.Contains(err.Error(), s.Addr().String()) {
		t.Errorf("got %v, want an error naming the address", err)
	}
}

func TestHeadersAreBounded(t *testing.T) {
	s := serve(t, loopback, http.HandlerFunc(ok))
	for _, tc := range []struct {
		name  string
		bytes int
		want  int
	}{
		{"60 KiB of headers pass", 60 << 10, http.StatusOK},
		{"65 KiB are too large", 65 << 10, http.StatusRequestHeaderFieldsTooLarge},
		{"140 KiB are not even read", 140 << 10, http.StatusRequestHeaderFieldsTooLarge},
	} {
		for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
			t.Run(tc.name+" over "+proto, func(t *testing.T) {
				client := clientFor(t, proto)
				req, err := http.NewRequest("GET", "http://"+s.Addr().String(), nil)
				if err != nil {
					t.Fatal(err)
				}
				for i := range tc.bytes / 1024 {
					req.Header.Set(fmt.Sprintf("X-%03d", i), strings.Repeat("x", 1024-9))
				}
				resp, err := client.Do(req)
				if tc.bytes > hardHeaderBytes && proto == "HTTP/2.0" && err != nil {
					return // HTTP/2 ends the connection, as it may
				}
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				if resp.StatusCode != tc.want || resp.Proto != proto {
					t.Errorf("got %d over %s, want %d", resp.StatusCode, resp.Proto, tc.want)
				}
				body, _ := io.ReadAll(resp.Body)
				if want := `{"error":"request header fields too large"}` + "\n"; tc.bytes == 65<<10 && string(body) != want {
					t.Errorf("got %q, want %q", body, want)
				}
			})
		}
	}
}

func clientFor(t *testing.T, proto string) *http.Client {
	t.Helper()
	protocols := new(http.Protocols)
	protocols.SetHTTP1(proto == "HTTP/1.1")
	protocols.SetUnencryptedHTTP2(proto == "HTTP/2.0")
	tr := &http.Transport{Protocols: protocols}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

func TestCallsOverHTTP2GoToTheirOwnHandler(t *testing.T) {
	s := serve(t, loopback, http.HandlerFunc(ok))
	conn, err := grpc.NewClient(s.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	check := func() (*healthpb.HealthCheckResponse, error) {
		return healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{})
	}
	if _, err := check(); status.Code(err) != codes.Unimplemented {
		t.Errorf("without a service: got %v, want UNIMPLEMENTED", err)
	}
	s.MountCalls(RefuseCalls(codes.Unavailable, "starting"))
	if _, err := check(); status.Code(err) != codes.Unavailable || status.Convert(err).Message() != "starting" {
		t.Errorf("while loading: got %v, want UNAVAILABLE starting", err)
	}
	service := grpc.NewServer()
	defer service.Stop()
	healthpb.RegisterHealthServer(service, health.NewServer())
	s.MountCalls(service)
	reply, err := check()
	if err != nil || reply.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("with a service: got %v, %v, want SERVING", reply, err)
	}

	req, _ := http.NewRequest("POST", "http://"+s.Addr().String(), strings.NewReader("x"))
	req.Header.Set("Content-Type", "application/grpc")
	resp, err := clientFor(t, "HTTP/1.1").Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); string(body) != "ok" {
		t.Errorf("a gRPC content type over HTTP/1.1: got %q, want the router's answer", body)
	}
}

func TestAnEarlyAnswerArrivesWhileTheClientStillSends(t *testing.T) {
	refuse := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "7")
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		io.WriteString(w, "refused")
	})
	s := serve(t, loopback, refuse)
	for _, tc := range []struct {
		name, head string
	}{
		{"a declared body that never comes", "Content-Length: 1000\r\n"},
		{"a declared body beyond what is discarded", "Content-Length: 100000000\r\n"},
		{"a chunked body that never ends", "Transfer-Encoding: chunked\r\n"},
		{"a client that waits for a word to begin", "Content-Length: 1000\r\nExpect: 100-continue\r\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := dial(t, s)
			fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: x\r\n%s\r\n", tc.head)
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if resp.StatusCode != http.StatusRequestEntityTooLarge || string(body) != "refused" || err != nil {
				t.Errorf("got %d %q %v, want 413 refused", resp.StatusCode, body, err)
			}
			if !resp.Close {
				t.Error("the answer does not announce the end of the connection")
			}
			if n, err := io.Copy(io.Discard, c); n != 0 || err != nil {
				t.Errorf("after the answer: got %d bytes, %v, want the end", n, err)
			}
		})
	}
}

// net/http notices a client that leaves only behind the end of its body.
func TestAClientThatLeavesInTheMiddleOfItsBodyIsNoticed(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux can tell before the next read")
	}
	for _, tc := range []struct {
		name, head string
	}{
		{"declared", "Content-Length: 1000\r\n\r\nx"},
		{"chunked", "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			begun, left := make(chan struct{}), make(chan error, 1)
			s := serve(t, loopback, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				r.Body.Read(make([]byte, 1))
				close(begun)
				<-r.Context().Done()
				left <- r.Context().Err()
			}))
			c := dial(t, s)
			fmt.Fprint(c, "POST / HTTP/1.1\r\nHost: x\r\n"+tc.head)
			<-begun
			select {
			case err := <-left:
				t.Fatalf("got %v while the client is there", err)
			case <-time.After(watchInterval + watchInterval/2): // one look finds it there
			}
			c.Close()
			if err := <-left; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want %v", err, context.Canceled)
			}
		})
	}
}

func TestAClientThatSendsEverythingFirstSeesTheAnswer(t *testing.T) {
	s := serve(t, loopback, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no", http.StatusUnauthorized)
	}))
	c := dial(t, s)
	body := strings.Repeat("x", 200<<10)
	if _, err := fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		t.Fatalf("write of the whole body: %v", err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		t.Fatalf("got %v, %v, want 401", resp, err)
	}
	resp.Body.Close()
}

// What is left of a body behind an early answer is read up to a limit, so that the
// connection stays. Who may not use the endpoint has a lower one.
func TestASmallRestOfABodyKeepsTheConnection(t *testing.T) {
	const kib = 1 << 10
	for _, tc := range []struct {
		name       string
		status     int
		read, size int // of the body
		stays      bool
	}{
		{"a small upload without a token", http.StatusUnauthorized, 0, 60 * kib, true},
		{"the limit itself", http.StatusUnauthorized, 0, 64 * kib, true},
		{"one byte above it", http.StatusUnauthorized, 0, 64*kib + 1, false},
		{"a large upload without a token", http.StatusUnauthorized, 0, 10 << 20, false},
		{"a small upload without the permission", http.StatusForbidden, 0, 60 * kib, true},
		{"a large upload without the permission", http.StatusForbidden, 0, 10 << 20, false},
		{"other answers leave more unread", http.StatusServiceUnavailable, 0, 256 * kib, true},
		{"and have a limit, too", http.StatusServiceUnavailable, 0, 256*kib + 1, false},
		{"what the handler has read does not count", http.StatusRequestEntityTooLarge, 1 << 20, 1<<20 + 200*kib, true},
		{"an answer that is no error", http.StatusOK, 0, 10, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := serve(t, loopback, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					ok(w, r)
					return
				}
				io.CopyN(io.Discard, r.Body, int64(tc.read))
				w.Header().Set("Content-Length", "5")
				w.WriteHeader(tc.status)
				io.WriteString(w, "early")
			}))
			c := dial(t, s)
			sent := make(chan struct{})
			go func() { // a large one does not fit into the buffers between
				defer close(sent)
				fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", tc.size)
				c.Write(make([]byte, tc.size))
			}()
			br := bufio.NewReader(c)
			resp, err := http.ReadResponse(br, nil)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if resp.StatusCode != tc.status || string(body) != "early" || err != nil {
				t.Fatalf("got %d %q %v, want %d early", resp.StatusCode, body, err, tc.status)
			}
			if resp.Close == tc.stays {
				t.Errorf("the answer announces the end of the connection: %v, want %v", resp.Close, !tc.stays)
			}
			if !tc.stays {
				c.Close()
			}
			<-sent
			if !tc.stays {
				return
			}
			fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			if resp, err = http.ReadResponse(br, nil); err != nil {
				t.Fatalf("the next request: %v", err)
			}
			if body, _ := io.ReadAll(resp.Body); string(body) != "ok" {
				t.Errorf("the next request: got %q, want ok", body)
			}
		})
	}
}

func TestABodyReadToItsEndKeepsTheConnection(t *testing.T) {
	s := serve(t, loopback, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, n)
	}))
	c := dial(t, s)
	br := bufio.NewReader(c)
	for range 3 {
		fmt.Fprint(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")
		resp, err := http.ReadResponse(br, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		if string(body) != "5" || resp.Close {
			t.Errorf("got %q, close %v, want 5 on a connection that stays", body, resp.Close)
		}
	}
}

func TestShutdownWaitsForRequestsButNotForSilentConnections(t *testing.T) {
	for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run(proto, func(t *testing.T) {
			begun, release := make(chan struct{}), make(chan struct{})
			s := serve(t, loopback, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				close(begun)
				<-release
				io.WriteString(w, "done")
			}))
			silent := dial(t, s)
			answer := make(chan string, 1)
			go func() {
				resp, err := clientFor(t, proto).Get("http://" + s.Addr().String())
				if err != nil {
					answer <- err.Error()
					return
				}
				defer resp.Body.Close()
				body, _ := io.ReadAll(resp.Body)
				answer <- string(body)
			}()
			<-begun
			ended := make(chan error, 1)
			go func() { ended <- s.Shutdown(context.Background()) }()
			// The silent connection is closed, the request is not.
			if _, err := silent.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
				t.Errorf("silent connection: got %v, want EOF", err)
			}
			select {
			case err := <-ended:
				t.Fatalf("Shutdown returned %v with a request in flight", err)
			default:
			}
			close(release)
			if err := <-ended; err != nil {
				t.Errorf("Shutdown: %v", err)
			}
			if got := <-answer; got != "done" {
				t.Errorf("got %q, want done", got)
			}
		})
	}
}

func TestShutdownIsBounded(t *testing.T) {
	begun := make(chan struct{})
	s := serve(t, loopback, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(begun)
		<-r.Context().Done()
	}))
	failed := make(chan error, 1)
	go func() {
		_, err := clientFor(t, "HTTP/1.1").Get("http://" + s.Addr().String())
		failed <- err
	}()
	<-begun
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want deadline exceeded", err)
	}
	if err := <-failed; err == nil {
		t.Error("the stuck request was answered, want its connection closed")
	}
}

func TestShutdownBeforeServingFreesThePort(t *testing.T) {
	s, err := Listen(loopback, quiet())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	again, err := Listen(s.Addr(), quiet())
	if err != nil {
		t.Fatalf("got %v, want the port free", err)
	}
	again.Close()
	if err := s.Serve(http.HandlerFunc(ok)); err != nil {
		t.Errorf("Serve after Shutdown: got %v, want nil", err)
	}
}

func TestTheRequestTargetStarIsAnOrdinaryPath(t *testing.T) {
	s := serve(t, loopback, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.URL.Path) }))
	c := dial(t, s)
	fmt.Fprint(c, "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	if body, _ := io.ReadAll(resp.Body); string(body) != "*" {
		t.Errorf("got %q, want the handler's answer", body)
	}
}
