package daemon

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sources"
)

// The verbs of the wire between a Stream and its client: a line holds a verb, a
// sequence and, for a message, its payload.
const (
	verbMessage  = "message"
	verbConfirm  = "confirm"
	verbAck      = "ack"
	verbProgress = "progress"
)

const maxRun = 64 // messages that are handed over at once

// StreamSource is the source of a Stream's messages.
type StreamSource struct {
	Ledger *sources.Ledger[uint64]

	conn      net.Conn
	arrived   chan []arrival
	confirmed chan uint64
	stopped   chan struct{} // Run has returned
	closing   chan struct{} // Close was called
	answered  chan struct{} // and everything is acknowledged, or there was no time
	closed    context.Context
	close     context.CancelFunc
	work      sync.WaitGroup
}

type arrival struct {
	sequence uint64
	payload  []byte
}

// NewStreamSource returns the source at the end of conn. Messages that are worked
// on are reported to be in progress at the given interval, unless it is 0.
func NewStreamSource(conn net.Conn, o sources.LedgerOptions, progress time.Duration) *StreamSource {
	s := &StreamSource{
		Ledger: sources.NewLedger[uint64](o), conn: conn,
		arrived: make(chan []arrival), confirmed: make(chan uint64),
		stopped: make(chan struct{}), closing: make(chan struct{}), answered: make(chan struct{}),
	}
	s.closed, s.close = context.WithCancel(context.Background())
	s.work.Go(s.read)
	s.work.Go(func() { s.answer(progress) })
	return s
}

// Stream is the name that the tests give the stream.
func (s *StreamSource) Stream() string { return "test" }

// Positions is the ledger.
func (s *StreamSource) Positions() sources.Positions { return s.Ledger }

// Run hands messages over. It ends without an error when the connection does.
func (s *StreamSource) Run(ctx context.Context, in sources.Intake) error {
	defer close(s.stopped)
	for {
		select {
		case <-ctx.Done():
			return nil
		case all, ok := <-s.arrived:
			if !ok || s.put(ctx, in, all) != nil {
				return nil
			}
		}
	}
}

// put hands over what has arrived. A message that is too long ends in the dead
// letter queue, an empty one at once.
func (s *StreamSource) put(ctx context.Context, in sources.Intake, all []arrival) error {
	var deliveries []graph.Delivery
	var run []graph.Line
	for _, a := range all {
		d := s.Ledger.Deliver(graph.Position{Sequence: a.sequence, Time: Published(a.sequence)}, a.sequence)
		switch {
		case d == nil:
		case sources.Blank(a.payload):
			d.Ended()
		case len(a.payload) > sources.MaxLine:
			token := graph.NewDeliveryReceipt([]graph.Delivery{d}).Token(0)
			if err := in.Oversize(ctx, a.payload[:sources.ExcerptSize], token); err != nil {
				return err
			}
		default:
			deliveries = append(deliveries, d)
			run = append(run, graph.Line{Raw: a.payload})
		}
	}
	if len(run) == 0 {
		return nil
	}
	receipt := graph.NewDeliveryReceipt(deliveries)
	for i := range run {
		run[i].Token = receipt.Token(i)
	}
	n, err := in.Put(ctx, run)
	receipt.Withdraw(n)
	return err
}

// read takes what the stream says until the connection ends. Messages that come
// after Run are left to be delivered again.
func (s *StreamSource) read() {
	defer close(s.arrived)
	in := bufio.NewReaderSize(s.conn, 2*sources.MaxLine)
	var all []arrival
	for {
		if len(all) > 0 && (len(all) == maxRun || in.Buffered() == 0) {
			select {
			case s.arrived <- all:
			case <-s.stopped:
			case <-s.closed.Done():
			}
			all = nil
		}
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		var verb, payload string
		var a arrival
		_, _ = fmt.Sscan(line, &verb, &a.sequence, &payload) // an empty message has no payload
		if verb == verbConfirm {
			select {
			case s.confirmed <- a.sequence:
			case <-s.closed.Done():
			}
			continue
		}
		a.payload, _ = base64.StdEncoding.DecodeString(payload)
		all = append(all, a)
	}
}

// answer acknowledges until the source is to be closed, and what is due by then.
func (s *StreamSource) answer(progress time.Duration) {
	defer close(s.answered)
	var ticks <-chan time.Time
	if progress > 0 {
		ticker := time.NewTicker(progress)
		defer ticker.Stop()
		ticks = ticker.C
	}
	for {
		select {
		case <-s.closing:
			s.acknowledge(s.closed)
			return
		case <-s.Ledger.Due():
			s.acknowledge(s.closed)
		case <-ticks:
			for _, sequence := range s.Ledger.Held() {
				s.send(verbProgress, sequence)
			}
		}
	}
}

// acknowledge sends what is due and waits for each to be confirmed.
func (s *StreamSource) acknowledge(ctx context.Context) {
	for _, a := range s.Ledger.Acks(nil) {
		s.send(verbAck, a.Message)
		select {
		case sequence := <-s.confirmed:
			s.Ledger.Confirmed(sequence)
		case <-ctx.Done():
			return
		}
	}
}

func (s *StreamSource) send(verb string, sequence uint64) {
	_, _ = fmt.Fprintln(s.conn, verb, sequence) // a lost connection shows itself when reading
}

// Close acknowledges what is due and ends the connection.
func (s *StreamSource) Close(ctx context.Context) error {
	stop := context.AfterFunc(ctx, s.close)
	defer stop()
	close(s.closing)
	<-s.answered
	s.close()
	err := s.conn.Close()
	s.work.Wait()
	return err
}
