package problem_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/problem"
)

func TestKinds(t *testing.T) {
	for k := fault.Malformed; k <= fault.Busy; k++ {
		if status := problem.Status(k); status < 400 || status > 499 || problem.Kind(status) != k {
			t.Errorf("kind %d has status %d, which maps to kind %d", k, status, problem.Kind(status))
		}
	}
	if problem.Status(0) != 0 || problem.Kind(http.StatusOK) != 0 {
		t.Error("an unknown kind has a status")
	}
}

func TestAnswer(t *testing.T) {
	busy := fault.New(fault.Busy, "later")
	busy.RetryAfter = 1500 * time.Millisecond
	for name, c := range map[string]struct {
		answer problem.Answer
		status int
		header map[string]string
		want   string
	}{
		"a field": {
			problem.New(fault.Field(fault.Malformed, "/name", "must be a string"), "r1"), 400, nil,
			`{"type":"https://github.com/rethread/rethread/blob/main/docs/errors.md#malformed_field","code":"malformed_field",` +
				`"title":"Bad Request","status":400,"detail":"/name must be a string","request_id":"r1",` +
				`"errors":[{"pointer":"/name","detail":"must be a string"}]}`,
		},
		"a whole document": {
			problem.New(fault.New(fault.Invalid, "odd"), ""), 422, nil,
			`{"type":"https://github.com/rethread/rethread/blob/main/docs/errors.md#invalid_request","code":"invalid_request",` +
				`"title":"Unprocessable Entity","status":422,"detail":"odd","errors":[{"pointer":"","detail":"odd"}]}`,
		},
		"extra members do not replace standard ones": {
			problem.New(fault.New(fault.SeqConflict, "<taken>").With("head_seq", 7).With("code", "x").With("status", 200).With("title", "x"), ""), 409, nil,
			`{"type":"https://github.com/rethread/rethread/blob/main/docs/errors.md#seq_conflict","code":"seq_conflict",` +
				`"title":"Conflict","status":409,"detail":"<taken>","head_seq":7}`,
		},
		"a member that cannot be encoded": {
			problem.New(fault.New(fault.SeqConflict, "x").With("f", func() {}), ""), 500, nil,
			`{"type":"https://github.com/rethread/rethread/blob/main/docs/errors.md#internal_error","code":"internal_error",` +
				`"title":"Internal Server Error","status":500,"detail":"Internal error."}`,
		},
		"nobody": {
			problem.New(fault.New(fault.Unauthorized, "who?"), ""), 401,
			map[string]string{"WWW-Authenticate": "Bearer"},
			`{"type":"https://github.com/rethread/rethread/blob/main/docs/errors.md#unauthorized","code":"unauthorized",` +
				`"title":"Unauthorized","status":401,"detail":"who?"}`,
		},
		"a retry time": {
			problem.New(busy, ""), 429,
			map[string]string{"Retry-After": "2"},
			`{"type":"https://github.com/rethread/rethread/blob/main/docs/errors.md#rate_limited","code":"rate_limited",` +
				`"title":"Too Many Requests","status":429,"detail":"later"}`,
		},
		"a code with a status that no kind has": {
			problem.New(fault.New(fault.Unavailable, "soon"), ""), 503,
			map[string]string{"Retry-After": "1"},
			`{"type":"https://github.com/rethread/rethread/blob/main/docs/errors.md#unavailable","code":"unavailable",` +
				`"title":"Service Unavailable","status":503,"detail":"soon"}`,
		},
		"an internal error": {
			problem.New(problem.Internal(), ""), 500, nil,
			`{"type":"https://github.com/rethread/rethread/blob/main/docs/errors.md#internal_error","code":"internal_error",` +
				`"title":"Internal Server Error","status":500,"detail":"Internal error."}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			rec := httptest.NewRecorder()
			c.answer.Write(rec)
			var got, want any
			if json.Unmarshal(rec.Body.Bytes(), &got) != nil || json.Unmarshal([]byte(c.want), &want) != nil {
				t.Fatalf("not JSON: %s", rec.Body)
			}
			header := map[string]string{}
			for _, name := range []string{"WWW-Authenticate", "Retry-After"} {
				if value := rec.Header().Get(name); value != "" {
					header[name] = value
				}
			}
			if c.header == nil {
				c.header = map[string]string{}
			}
			if diff := cmp.Diff(want, got) + cmp.Diff(c.header, header); diff != "" || rec.Code != c.status {
				t.Errorf("%d (-want +got):\n%s", rec.Code, diff)
			}
			if kind := rec.Header().Get("Content-Type"); kind != "application/problem+json" {
				t.Errorf("Content-Type %q", kind)
			}
		})
	}
}

func TestOf(t *testing.T) {
	missing := fault.Missing("Session")
	if f, expected := problem.Of(fmt.Errorf("read: %w", missing)); f != missing || !expected {
		t.Errorf("got %v, %v", f, expected)
	}
	for _, err := range []error{errors.New("disk full"), &fault.Error{Detail: "of no kind"}} {
		if f, expected := problem.Of(err); f.Detail != "Internal error." || expected {
			t.Errorf("%v: got %v, %v", err, f, expected)
		}
	}
}
