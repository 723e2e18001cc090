package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"

	"github.com/sluicehq/sluice/otlp"
)

// minOTLPShare is how fast events must be that come as log records, measured against the
// same events as lines.
const minOTLPShare = 0.5

const typeProtobuf = "application/x-protobuf"

// asRecords makes each line of a body a log record whose attributes are the line's members.
func asRecords(lines []byte) (request []byte, records int64, err error) {
	r := otlp.NewRequest("bench", "")
	for line := range bytes.Lines(lines) {
		record, err := otlp.AppendAttributes(nil, bytes.TrimSpace(line))
		if err != nil {
			return nil, 0, fmt.Errorf("line %q is no object: %w", line, err)
		}
		r.Add(record)
	}
	return r.Append(nil), int64(r.Len()), nil
}

// runOTLP compares bodies of lines with requests of OTLP over HTTP and over gRPC that have
// the same events.
func (b *bench) runOTLP(ctx context.Context, o options) error {
	b.printf("%-25s %9s %14s %14s %8s  %9s %6s\n", "lane", "over", "lines/s CPU", "records/s CPU", "share", "half in", "bar")
	return b.eachLane(o, func(lines [][]byte, rules, lane string) error {
		for _, grpc := range []bool{false, true} {
			if err := b.otlp(ctx, lines, o, rules, lane, grpc); err != nil {
				return err
			}
		}
		return nil
	})
}

// otlp measures and prints one lane over one transport, lines and records in turn.
func (b *bench) otlp(ctx context.Context, lines [][]byte, o options, rules, lane string, grpc bool) error {
	c, err := spawn(ctx, b.program, rules, b.more...)
	if err != nil {
		return err
	}
	defer c.stop()
	p := b.sender(c)
	plain := p.bodies(append(bytes.Join(lines, []byte{'\n'}), '\n'))
	requests, counts, over := make([][]byte, len(plain)), make(map[*byte]int64), "HTTP"
	for i := range plain {
		var n int64
		if requests[i], n, err = asRecords(plain[i]); err != nil {
			return err
		}
		if grpc {
			requests[i], over = append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(requests[i]))), requests[i]...), "gRPC"
		}
		counts[&requests[i][0]] = n
	}
	asLines := func() (float64, error) {
		p.records, p.grpc, p.contentType = nil, false, typeNDJSON
		did, _, err := c.load(ctx, p, plain, o.each/(2*rounds))
		return float64(did.events) / did.cpu.Seconds(), err
	}
	asExports := func() (float64, error) {
		p.records, p.grpc, p.contentType = counts, grpc, typeProtobuf
		did, _, err := c.load(ctx, p, requests, o.each/(2*rounds))
		return float64(did.events) / did.cpu.Seconds(), err
	}
	ndjson, records, shares, err := alternate(asLines, asExports, func(l, r float64) float64 { return r / l })
	if err != nil {
		return err
	}
	share := quantile(shares, 2)
	b.printf("%-25s %9s %14.0f %14.0f %8.2f  %4.2f-%4.2f %6.2f %s\n", lane, over, quantile(ndjson, 2), quantile(records, 2), share,
		quantile(shares, 1), quantile(shares, 3), minOTLPShare, b.holds(share >= minOTLPShare))
	return nil
}

// export sends one request of OTLP.
func (p *post) export(ctx context.Context, client *http.Client, body []byte) error {
	path, contentType := otlp.Path, p.contentType
	if p.grpc {
		path, contentType = otlp.Method, "application/grpc"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url(p.addr, path), bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", contentType)
	resp, err := p.ask(client, req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK || p.grpc && resp.Trailer.Get("Grpc-Status") != "0" {
		return fmt.Errorf("POST %s: %s: %s%s", path, resp.Status, bytes.TrimSpace(answer), resp.Header.Get("Grpc-Message"))
	}
	p.accepted.Add(p.records[&body[0]])
	return nil
}

// overHTTP2 has a client speak HTTP/2 in clear.
func overHTTP2(client *http.Client) {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	client.Transport.(*http.Transport).Protocols = protocols
}
