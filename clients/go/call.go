package rethread

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Option changes one call.
type Option func(*options)

type options struct {
	key      string
	ifMatch  string
	timeout  time.Duration
	response func(*http.Response)
	rejected string // token that is known to be rejected
}

// WithIdempotencyKey sets the key by which the server recognises a repeated write for
// 24 hours: 1 to 255 visible characters. Without it each call has a random one. Use a
// stored key to repeat a write after a restart. It has no effect on calls without an
// Idempotency-Key.
func WithIdempotencyKey(key string) Option { return func(o *options) { o.key = key } }

// IfMatch makes a change fail with ErrPreconditionFailed unless the resource still has
// the ETag. Such a change is not repeated after a lost answer, since it would conflict
// with itself.
func IfMatch(etag string) Option { return func(o *options) { o.ifMatch = etag } }

// WithTimeout limits the call with all its attempts, instead of Config.Timeout.
func WithTimeout(d time.Duration) Option { return func(o *options) { o.timeout = d } }

// OnResponse has f called with the successful response, for its headers. The body
// must not be read.
func OnResponse(f func(*http.Response)) Option { return func(o *options) { o.response = f } }

// repeat says which requests may be sent again.
type repeat int

const (
	repeatSafe    repeat = iota // any
	repeatKey                   // any, because the server recognises the idempotency key
	repeatDelete                // any, and a repeat that finds nothing was successful
	repeatRefused               // those that the server refused with 429, which changes nothing
)

// call is a request to the API.
type call struct {
	method   string
	path     string // with {} for each of params
	params   []string
	query    url.Values
	json     any
	bytes    []byte // instead of json, with the header Content-Type
	header   http.Header
	repeat   repeat
	keyed    bool // takes an idempotency key of the caller's, and needs none
	base     base
	public   bool // needs no token
	attempts int  // at most; 0 means maxAttempts
}

// plainLimit is the number of bytes from which on a body is compressed: a request may
// have 6 MB, and its body may be base64 on the way.
const plainLimit = 4 << 20

// prepared is a call that can be sent any number of times.
type prepared struct {
	call
	address string
	body    []byte
}

// prepare encodes a call, whose address is still only a path. Each attempt has the same
// key and body.
func (c call) prepare(o options) (*prepared, error) {
	path, err := fillPath(c.path, c.params)
	if err != nil {
		return nil, err
	}
	p := &prepared{call: c, address: path, body: c.bytes}
	if len(c.query) > 0 {
		p.address += "?" + c.query.Encode()
	}
	if p.header = c.header.Clone(); p.header == nil {
		p.header = http.Header{}
	}
	if c.json != nil {
		p.header.Set("Content-Type", "application/json")
		if p.body, err = encode(c.json); err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
	}
	if c.repeat == repeatKey || c.keyed && o.key != "" {
		if o.key == "" {
			o.key = newID()
		}
		p.header.Set("Idempotency-Key", o.key)
	}
	if o.ifMatch != "" {
		p.header.Set("If-Match", o.ifMatch)
	}
	for name := range p.header {
		if err := checkHeader(name, p.header.Get(name)); err != nil {
			return nil, err
		}
	}
	if len(p.body) <= plainLimit {
		return p, nil
	}
	p.header.Set("Content-Encoding", "gzip")
	p.body, err = compressed(p.body)
	return p, err
}

// fillPath puts params into a path.
func fillPath(path string, params []string) (string, error) {
	for _, param := range params {
		escaped, err := segment(param)
		if err != nil {
			return "", err
		}
		path = strings.Replace(path, "{}", escaped, 1)
	}
	return path, nil
}

func compressed(body []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(body); err != nil {
		return nil, fmt.Errorf("compress the request: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compress the request: %w", err)
	}
	return out.Bytes(), nil
}

// encode encodes v as JSON without escaping <, > and &, so that stored values are
// unchanged.
func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// request returns the request for one attempt.
func (p *prepared) request(ctx context.Context) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, p.method, p.address, p.reader())
	if err != nil {
		return nil, err
	}
	req.Header = p.header.Clone()
	return req, nil
}

// reader returns the body for one attempt.
func (p *prepared) reader() io.Reader {
	if p.body == nil {
		return http.NoBody
	}
	return bytes.NewReader(p.body)
}
