package gateway_test

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/local/gateway"
	"github.com/rethread/rethread/infra/local/lambda"
	"github.com/rethread/rethread/infra/local/samtemplate"
)

const zeros = "\x00\x00\x00\x00\x00\x00\x00\x00"

func TestFunctionURL(t *testing.T) {
	t.Run("an answer arrives as it is produced", func(t *testing.T) {
		reader, writer := io.Pipe()
		resp := mustCall(t, "RESPONSE_STREAM", streamed(reader), func() {
			_, _ = io.WriteString(writer, `{"statusCode":201,"headers":{"X-A":"b"},"cookies":["c=d"]}`+zeros+"first\n")
		})
		if resp.status != 201 || resp.header.Get("X-A") != "b" || resp.header.Get("Set-Cookie") != "c=d" {
			t.Errorf("%d %v", resp.status, resp.header)
		}
		body := bufio.NewReader(resp.body)
		if line, err := body.ReadString('\n'); line != "first\n" { // the rest is not even written yet
			t.Fatalf("got %q, %v", line, err)
		}
		go func() {
			_, _ = io.WriteString(writer, "last")
			_ = writer.Close()
		}()
		if rest, err := io.ReadAll(body); string(rest) != "last" || err != nil {
			t.Errorf("got %q, %v", rest, err)
		}
	})
	t.Run("an answer that breaks off does not look whole", func(t *testing.T) {
		reader, writer := io.Pipe()
		resp := mustCall(t, "RESPONSE_STREAM", streamed(reader), func() {
			_, _ = io.WriteString(writer, `{}`+zeros+"part")
			_ = writer.CloseWithError(&lambda.StreamError{Type: "Broken", Message: "midway"})
		})
		if body, err := io.ReadAll(resp.body); err == nil {
			t.Errorf("it ended well with %q", body)
		}
	})
	for _, test := range []struct {
		name, mode string
		result     *lambda.Result
		status     int
		body       string
	}{
		{"raw bytes", "RESPONSE_STREAM", &lambda.Result{Stream: &lambda.Stream{
			ContentType: "application/octet-stream", Body: io.NopCloser(strings.NewReader("raw")),
		}}, 200, "raw"},
		{"no head", "RESPONSE_STREAM", streamed(io.NopCloser(strings.NewReader("no zeros"))), 502, `{"message":"Internal Server Error"}`},
		{"a buffered answer", "RESPONSE_STREAM", &lambda.Result{Payload: []byte(`{"statusCode":202,"body":"ok"}`)}, 202, "ok"},
		{"a stream where none is allowed", "BUFFERED", streamed(io.NopCloser(strings.NewReader("{}" + zeros))), 502, `{"message":"Internal Server Error"}`},
		{"a failure", "BUFFERED", &lambda.Result{FunctionError: "Unhandled", Payload: []byte("{}")}, 502, `{"message":"Internal Server Error"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			resp := mustCall(t, test.mode, test.result, func() {})
			body, err := io.ReadAll(resp.body)
			if resp.status != test.status || string(body) != test.body || err != nil {
				t.Errorf("%d %q %v, want %d %q", resp.status, body, err, test.status, test.body)
			}
		})
	}
	t.Run("one that asks for signatures is refused", func(t *testing.T) {
		function := samtemplate.Function{URL: &samtemplate.FunctionURL{AuthType: "AWS_IAM"}}
		if _, err := gateway.NewFunctionURL(function, setup{}, func(gateway.Access) {}); err == nil {
			t.Error("no error")
		}
	})
	t.Run("its errors are the gateway's", func(t *testing.T) {
		for fail, status := range map[error]int{lambda.ErrThrottled: 429, lambda.ErrRequestTooLarge: 413, errors.New("other"): 502} {
			recorder := httptest.NewRecorder()
			mustURL(t, "BUFFERED", setup{fail: fail}).ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody))
			if recorder.Code != status {
				t.Errorf("%v: %d, want %d", fail, recorder.Code, status)
			}
		}
	})
}

func streamed(body io.ReadCloser) *lambda.Result {
	return &lambda.Result{Stream: &lambda.Stream{ContentType: lambda.TypeHTTPStream, Body: body}}
}

func mustURL(t *testing.T, mode string, invoker gateway.Invoker) http.Handler {
	t.Helper()
	function := samtemplate.Function{LogicalID: "Fn", URL: &samtemplate.FunctionURL{AuthType: "NONE", InvokeMode: mode}}
	handler, err := gateway.NewFunctionURL(function, invoker, func(gateway.Access) {})
	if err != nil {
		t.Fatal(err)
	}
	return handler
}

// reply is a response whose body is still arriving.
type reply struct {
	status int
	header http.Header
	body   io.Reader
}

// mustCall calls the function's address over a real connection while produce
// writes the answer.
func mustCall(t *testing.T, mode string, result *lambda.Result, produce func()) reply {
	t.Helper()
	server := httptest.NewServer(mustURL(t, mode, setup{answer: result}))
	t.Cleanup(server.Close)
	go produce()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return reply{resp.StatusCode, resp.Header, resp.Body}
}
