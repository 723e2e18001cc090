package nats_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	natsio "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/actors/sink/file"
	"github.com/sluicehq/sluice/actors/sink/nats"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/natsconn/dial"
	"github.com/sluicehq/sluice/internal/natsconn/natstest"
)

// processorTime is what this process has used.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// library publishes with the client library alone: with its own handling of
// acknowledgements, or with none, which is what publishing costs at least.
type library struct {
	conn *natsio.Conn
	js   jetstream.JetStream // nil publishes to where no stream is, and waits for the server to have it
	msg  natsio.Msg
}

func newLibrary(b *testing.B, addr string, acknowledged bool) (sink.Transport, error) {
	b.Helper()
	nc, err := natsio.Connect("nats://"+addr, natsio.SkipSubjectValidation())
	l := &library{conn: nc, msg: natsio.Msg{Subject: "nowhere", Header: natsio.Header{natsio.MsgIdHdr: []string{"msg_00112233445566778899aabbccddeeff-0"}}}}
	if err == nil && acknowledged {
		l.js, err = jetstream.New(nc)
	}
	return l, err
}

func (l *library) Write(_ context.Context, messages []graph.Message) (int, error) {
	if l.js == nil {
		for i := range messages {
			l.msg.Data = messages[i].Body
			if err := l.conn.PublishMsg(&l.msg); err != nil {
				return 0, err
			}
		}
		return len(messages), l.conn.Flush()
	}
	for i := range messages {
		id := fmt.Sprintf("msg_%x-%d", messages[i].ID, i)
		if _, err := l.js.PublishMsgAsync(&natsio.Msg{Subject: "results", Data: messages[i].Body, Header: natsio.Header{natsio.MsgIdHdr: []string{id}}}); err != nil {
			return 0, err
		}
	}
	<-l.js.PublishAsyncComplete()
	return len(messages), nil
}

func (*library) Abandon() {}
func (*library) Reopen()  {}
func (l *library) Close() error {
	l.conn.Close()
	return nil
}

// stream makes the stream of results anew, in memory.
func stream(b *testing.B, addr string, batches bool) {
	b.Helper()
	nc, err := natsio.Connect("nats://" + addr)
	if err != nil {
		b.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		b.Fatal(err)
	}
	_ = js.DeleteStream(b.Context(), "results")
	_, err = js.CreateStream(b.Context(), jetstream.StreamConfig{
		Name: "results", Subjects: []string{"results"}, Storage: jetstream.MemoryStorage,
		MaxBytes: 64 << 20, Duplicates: time.Second, AllowBatchPublish: batches,
	})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkDelivery compares transports by results for each second of a processor. The
// server has a process of its own, whose time does not count.
func BenchmarkDelivery(b *testing.B) {
	p := natstest.StartProcess(b)
	for _, size := range []int{64, 192, 1024} {
		body := []byte(fmt.Sprintf(`{"rule_title":"Evil","event":"%s"}`, bytes.Repeat([]byte("x"), 500)))
		batch := make([]graph.Message, size)
		for _, kind := range []struct {
			name string
			open func(b *testing.B) (sink.Transport, error)
		}{
			{"file", func(b *testing.B) (sink.Transport, error) {
				b.Helper()
				return file.Open(filepath.Join(b.TempDir(), "out"), time.Now)
			}},
			{"nats in batches", func(b *testing.B) (sink.Transport, error) {
				b.Helper()
				stream(b, p.Addr, true)
				return nats.Open(nats.Options{Dialer: dial.Dialer{Log: slog.New(slog.DiscardHandler)}, Target: p.Addr + "/results", Label: "nats", Name: "bench"})
			}},
			{"nats one by one", func(b *testing.B) (sink.Transport, error) {
				b.Helper()
				stream(b, p.Addr, false)
				return nats.Open(nats.Options{Dialer: dial.Dialer{Log: slog.New(slog.DiscardHandler)}, Target: p.Addr + "/results", Label: "nats", Name: "bench"})
			}},
			{"the library alone", func(b *testing.B) (sink.Transport, error) {
				b.Helper()
				stream(b, p.Addr, false)
				return newLibrary(b, p.Addr, true)
			}},
			{"the library without acknowledgements", func(b *testing.B) (sink.Transport, error) {
				b.Helper()
				return newLibrary(b, p.Addr, false)
			}},
		} {
			b.Run(fmt.Sprintf("%s/batch=%d", kind.name, size), func(b *testing.B) {
				transport, err := kind.open(b)
				if err != nil {
					b.Fatal(err)
				}
				defer transport.Close()
				var ids graph.DeliveryIDs
				envelopes := make([]graph.Envelope, size)
				for i := range batch {
					batch[i] = graph.Message{Envelope: &envelopes[i], Body: body}
				}
				b.ReportAllocs()
				begun, results := processorTime(b), 0
				for b.Loop() {
					for i := range envelopes {
						envelopes[i].ID = ids.Next()
					}
					n, err := transport.Write(b.Context(), batch)
					if err != nil {
						b.Fatal(err)
					}
					results += n
				}
				took := processorTime(b) - begun
				b.ReportMetric(float64(results)/took.Seconds(), "results/cpu-s")
				b.ReportMetric(float64(took.Nanoseconds())/float64(results), "cpu-ns/result")
			})
		}
	}
}
