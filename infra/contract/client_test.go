package contract_test

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/contract"
)

const goodSession = `{"data":{"id":"s1","user_id":"alice","app_name":"default","agent":"","name":"",
	"status":"idle","active_run_id":null,"metadata":{},"fork":null,"epoch":0,"head_seq":0,
	"created_time":1704153600000,"updated_time":1704153600000}}`

type answer struct {
	status      int
	contentType string
	header      map[string]string
	body        string
	gzip        bool
}

func TestClient(t *testing.T) {
	etag := map[string]string{"ETag": `"1"`}
	session := answer{status: 200, contentType: "application/json", header: etag, body: goodSession}
	for name, tc := range map[string]struct {
		method, path, body string
		mark               func(context.Context) context.Context
		answer             answer
		want               string // part of the only violation; "" means none
	}{
		"accepts a valid exchange": {path: "/api/v1/sessions/s1", answer: session},
		"accepts both base paths":  {path: "/api/sessions/s1", answer: session},
		"decompresses a response": {
			path:   "/api/v1/sessions/s1",
			answer: answer{status: 200, contentType: "application/json", header: etag, body: goodSession, gzip: true},
		},
		"reports a missing member": {
			path: "/api/v1/sessions/s1", want: "violates the contract",
			answer: answer{status: 200, contentType: "application/json", header: etag, body: `{"data":{"id":"s1"}}`},
		},
		"reports a missing header": {
			path: "/api/v1/sessions/s1", want: `"ETag" missing`,
			answer: answer{status: 200, contentType: "application/json", body: goodSession},
		},
		"reports an unknown status": {
			path: "/api/v1/sessions/s1", want: "status is not supported",
			answer: answer{status: 418, contentType: "application/json", body: `{}`},
		},
		"reports a problem without a detail": {
			path: "/api/v1/sessions/s1", want: "404",
			answer: answer{status: 404, contentType: "application/problem+json", body: `{"type":"about:blank","title":"x","status":404}`},
		},
		"accepts an error of the gateway": {
			path:   "/api/v1/sessions/s1",
			answer: answer{status: 401, contentType: "application/json", body: `{"message":"Unauthorized"}`},
		},
		"reports an unknown route": {
			path: "/api/v1/nothing", want: "not in the contract", answer: answer{status: 404},
		},
		"accepts an unknown route marked OffContract": {
			path: "/api/v1/nothing", mark: contract.OffContract, answer: answer{status: 404},
		},
		"reports messages below the other base path": {
			path: "/api/sessions/s1/messages", want: "not in the contract", answer: answer{status: 404},
		},
		"reports a bad request": {
			method: http.MethodPatch, path: "/api/v1/sessions/s1", body: `{"name":1}`,
			want: "the request violates the contract", answer: session,
		},
		"accepts a bad request marked BadRequest": {
			method: http.MethodPatch, path: "/api/v1/sessions/s1", body: `{"name":1}`, mark: contract.BadRequest,
			answer: answer{
				status: 400, contentType: "application/problem+json",
				body: `{"type":"about:blank","code":"malformed_field","title":"Bad Request","status":400,"detail":"/name must be a string"}`,
			},
		},
		"checks the response to a bad request": {
			method: http.MethodPatch, path: "/api/v1/sessions/s1", body: `{"name":1}`, mark: contract.BadRequest,
			want: "400 Bad Request violates the contract", answer: answer{status: 400, contentType: "text/plain", body: "no"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			breaches := exchange(t, tc.method, tc.path, tc.body, tc.mark, tc.answer)
			switch {
			case tc.want == "" && len(breaches) > 0:
				t.Errorf("violations reported: %q", breaches)
			case tc.want != "" && (len(breaches) != 1 || !strings.Contains(breaches[0], tc.want)):
				t.Errorf("violations reported: %q, want one with %q", breaches, tc.want)
			}
		})
	}
}

// exchange makes one request and returns the violations that the client reported.
func exchange(t *testing.T, method, path, body string, mark func(context.Context) context.Context, a answer) []string {
	t.Helper()
	server := httptest.NewServer(a)
	defer server.Close()
	spec, err := contract.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if mark != nil {
		ctx = mark(ctx)
	}
	var payload io.Reader
	if body != "" {
		payload = strings.NewReader(body)
	}
	if method == "" {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(ctx, method, server.URL+path, payload)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer x")
	req.Header.Set("Accept-Encoding", "gzip")
	if payload != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	var log breachLog
	client := &http.Client{Transport: contract.NewTransport(&log, spec, server.URL, http.DefaultTransport)}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return log.breaches
}

// ServeHTTP returns the answer to every request.
func (a answer) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	w.Header().Set("Content-Type", a.contentType)
	if !a.gzip {
		w.WriteHeader(a.status)
		_, _ = io.WriteString(w, a.body)
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	w.WriteHeader(a.status)
	zip := gzip.NewWriter(w)
	_, _ = io.WriteString(zip, a.body)
	_ = zip.Close()
}

type breachLog struct{ breaches []string }

func (*breachLog) Helper() {}

func (l *breachLog) Errorf(format string, args ...any) {
	l.breaches = append(l.breaches, fmt.Sprintf(format, args...))
}
