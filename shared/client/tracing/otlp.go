package tracing

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/rethread/rethread/shared/base/retry"
)

// maxAnswer is how many bytes of a receiver's answer are read.
const maxAnswer = 64 << 10

// exporter posts spans in OTLP's JSON form, as specified at
// https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding. OpenTelemetry's own
// exporter would link gRPC and protocol buffers into each function, 4 MB.
type exporter struct {
	url    string
	header http.Header
}

// newExporter reads the variables that OpenTelemetry's exporters have.
func newExporter(getenv func(string) string) (*exporter, error) {
	e := &exporter{url: strings.TrimSuffix(getenv("OTEL_EXPORTER_OTLP_ENDPOINT"), "/") + "/v1/traces", header: http.Header{}}
	if u, err := url.Parse(e.url); err != nil || u.Host == "" {
		return nil, fmt.Errorf("%q is not the address of a receiver of spans", e.url)
	}
	for pair := range strings.SplitSeq(getenv("OTEL_EXPORTER_OTLP_HEADERS"), ",") {
		name, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		switch {
		case strings.TrimSpace(pair) == "":
			continue
		case !ok || err != nil:
			return nil, errors.New("OTEL_EXPORTER_OTLP_HEADERS must have the form name=value,name=value")
		}
		e.header.Set(strings.TrimSpace(name), value)
	}
	e.header.Set("Content-Type", "application/json")
	return e, nil
}

// ExportSpans implements sdk.SpanExporter. It tries three times if no answer comes, as on a
// connection from before Lambda froze the process, or if the receiver asks for it.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	body, err := json.Marshal(requestOf(spans))
	if err != nil {
		return fmt.Errorf("encode spans: %w", err)
	}
	return retry.Do(ctx, retry.Policy{First: 100 * time.Millisecond, Max: time.Second, Tries: 3}, nil, func() error { return e.post(ctx, body) })
}

// Shutdown implements sdk.SpanExporter.
func (*exporter) Shutdown(context.Context) error { return nil }

func (e *exporter) post(ctx context.Context, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("export spans: %w", err)
	}
	req.Header = e.header.Clone()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("%w: export spans: %w", retry.ErrAgain, err)
	}
	defer res.Body.Close() //nolint:errcheck // it is only read
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return fmt.Errorf("the receiver of spans answers %d: %w", res.StatusCode, retry.ErrAgain)
	case http.StatusOK:
	default:
		return fmt.Errorf("the receiver of spans answers %d", res.StatusCode)
	}
	var partial struct {
		PartialSuccess struct{ RejectedSpans json.Number }
	}
	if err == nil && json.Unmarshal(answer, &partial) == nil {
		if n, _ := partial.PartialSuccess.RejectedSpans.Int64(); n > 0 {
			return fmt.Errorf("the receiver of spans rejected %d", n)
		}
	}
	return nil
}

// The messages of OTLP: 64-bit integers are strings, ids hexadecimal, enumerations numbers.
type (
	exportRequest struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource   resourceOf   `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
	}
	resourceOf struct {
		Attributes []keyValue `json:"attributes"`
	}
	scopeSpans struct {
		Scope struct {
			Name string `json:"name"`
		} `json:"scope"`
		Spans []spanOf `json:"spans"`
	}
	spanOf struct {
		TraceID    string         `json:"traceId"`
		SpanID     string         `json:"spanId"`
		TraceState string         `json:"traceState,omitempty"`
		ParentID   string         `json:"parentSpanId,omitempty"`
		Name       string         `json:"name"`
		Kind       trace.SpanKind `json:"kind"` // numbered as in OTLP
		Start      string         `json:"startTimeUnixNano"`
		End        string         `json:"endTimeUnixNano"`
		Attributes []keyValue     `json:"attributes,omitempty"`
		Events     []eventOf      `json:"events,omitempty"`
		Status     statusOf       `json:"status"`
	}
	eventOf struct {
		Time       string     `json:"timeUnixNano"`
		Name       string     `json:"name"`
		Attributes []keyValue `json:"attributes,omitempty"`
	}
	statusOf struct {
		Code    int    `json:"code,omitempty"`
		Message string `json:"message,omitempty"`
	}
	keyValue struct {
		Key   string         `json:"key"`
		Value map[string]any `json:"value"`
	}
)

// requestOf returns the request for spans of one process, at least one; they have the same
// resource and scope.
func requestOf(spans []sdk.ReadOnlySpan) exportRequest {
	var of scopeSpans
	of.Scope.Name = scope
	for _, s := range spans {
		of.Spans = append(of.Spans, encoded(s))
	}
	resource := resourceOf{keyValues(spans[0].Resource().Attributes())}
	return exportRequest{[]resourceSpans{{resource, []scopeSpans{of}}}}
}

func encoded(s sdk.ReadOnlySpan) spanOf {
	c := s.SpanContext()
	traceID, spanID := c.TraceID(), c.SpanID()
	out := spanOf{
		TraceID: hex.EncodeToString(traceID[:]), SpanID: hex.EncodeToString(spanID[:]), TraceState: c.TraceState().String(),
		Name: s.Name(), Kind: s.SpanKind(), Start: nanos(s.StartTime()), End: nanos(s.EndTime()), Attributes: keyValues(s.Attributes()),
		Status: statusOf{Message: s.Status().Description},
	}
	if parent := s.Parent().SpanID(); parent.IsValid() {
		out.ParentID = hex.EncodeToString(parent[:])
	}
	for _, e := range s.Events() {
		out.Events = append(out.Events, eventOf{Time: nanos(e.Time), Name: e.Name, Attributes: keyValues(e.Attributes)})
	}
	switch s.Status().Code {
	case codes.Ok:
		out.Status.Code = 1
	case codes.Error:
		out.Status.Code = 2
	default:
	}
	return out
}

func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

// keyValues encodes attributes; values are texts, integers or booleans, as all are that
// this package and its callers set. Others are texts.
func keyValues(attrs []attribute.KeyValue) []keyValue {
	out := make([]keyValue, len(attrs))
	for i, a := range attrs {
		value := map[string]any{"stringValue": a.Value.String()}
		switch a.Value.Type() {
		case attribute.INT64:
			value = map[string]any{"intValue": strconv.FormatInt(a.Value.AsInt64(), 10)}
		case attribute.BOOL:
			value = map[string]any{"boolValue": a.Value.AsBool()}
		default:
		}
		out[i] = keyValue{Key: string(a.Key), Value: value}
	}
	return out
}
