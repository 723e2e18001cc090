package export

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sluicehq/sluice/internal/response"
	"github.com/sluicehq/sluice/otlp"
)

// contentType is that of requests and of answers.
const contentType = "application/x-protobuf"

// idle is how long a connection without requests is kept.
const idle = 90 * time.Second

// httpExporter exports over HTTP/1.1.
type httpExporter struct {
	o      Options
	url    string
	client *http.Client
	body   []byte
	plain  []byte // before it was zipped
	zip    *gzip.Writer
}

func (h *httpExporter) use(c *tls.Config) {
	_ = h.close()
	h.url = "http://" + h.o.Endpoint + otlp.Path
	if c != nil {
		h.url = "https://" + h.o.Endpoint + otlp.Path
	}
	h.client = &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: h.o.Dial, TLSClientConfig: c, DisableCompression: true,
			MaxIdleConnsPerHost: 1, IdleConnTimeout: idle, MaxResponseHeaderBytes: maxAnswer, WriteBufferSize: writeBuffer,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (h *httpExporter) close() error {
	if h.client != nil {
		h.client.CloseIdleConnections()
	}
	return nil
}

func (h *httpExporter) send(ctx context.Context, r *otlp.Request) ([]byte, error) {
	content, err := h.content(r)
	if err != nil {
		return nil, &Failure{text: err.Error(), cause: err, permanent: true}
	}
	var tries, written atomic.Int32 // over one connection, or over another when the first was closed while it was idle
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn:      func(httptrace.GotConnInfo) { tries.Add(1) },
		WroteRequest: func(httptrace.WroteRequestInfo) { written.Add(1) },
	})
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(content))
	if err != nil {
		return nil, &Failure{text: err.Error(), cause: err, permanent: true}
	}
	request.Header.Set("Content-Type", contentType)
	request.Header.Set("User-Agent", h.o.Agent)
	if h.o.Gzip {
		request.Header.Set("Content-Encoding", "gzip")
	}
	answer, err := h.client.Do(request)
	if err != nil || tries.Load() != written.Load() {
		h.body = nil // it may still be read
	}
	if err != nil {
		return nil, &Failure{text: err.Error(), cause: err}
	}
	content, err = response.ReadRest(answer)
	if code := answer.StatusCode; code < 200 || code > 299 {
		return nil, h.refused(answer, content)
	}
	if err != nil || !isProtobuf(answer) {
		return nil, nil //nolint:nilerr // the status said that the request was taken
	}
	return content, nil
}

// content writes the request into memory that is used again.
func (h *httpExporter) content(r *otlp.Request) ([]byte, error) {
	if !h.o.Gzip {
		h.body = r.Append(h.body[:0])
		return h.body, nil
	}
	zipped := bytes.NewBuffer(h.body[:0])
	if h.zip == nil {
		h.zip = gzip.NewWriter(nil)
	}
	h.zip.Reset(zipped)
	h.plain = r.Append(h.plain[:0])
	if _, err := h.zip.Write(h.plain); err != nil {
		return nil, err
	}
	if err := h.zip.Close(); err != nil {
		return nil, err
	}
	h.body = zipped.Bytes()
	return h.body, nil
}

// refused is an answer that is no success.
func (h *httpExporter) refused(answer *http.Response, content []byte) *Failure {
	code := answer.StatusCode
	f := &Failure{text: fmt.Sprintf("%s: HTTP %d %s", h.o.Endpoint, code, http.StatusText(code))}
	switch code {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		f.after = response.RetryAfter(answer.Header, h.o.Now(), maxPatience)
	default:
		f.permanent = true
	}
	if to := answer.Header.Get("Location"); to != "" && code/100 == 3 {
		f.text += ", which is not followed, to " + told(to)
	}
	if isProtobuf(answer) {
		if message, err := otlp.ParseStatus(content); err == nil && message != "" {
			f.text += ": " + told(message)
		}
	}
	return f
}

func isProtobuf(answer *http.Response) bool {
	return strings.HasPrefix(answer.Header.Get("Content-Type"), contentType)
}

// dialer is a Dial as gRPC wants it.
func dialer(dial func(ctx context.Context, network, address string) (net.Conn, error)) func(context.Context, string) (net.Conn, error) {
	return func(ctx context.Context, address string) (net.Conn, error) { return dial(ctx, "tcp", address) }
}
