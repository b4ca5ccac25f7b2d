// Package users simulates users who use the system at random, determined by a seed, each
// from a few devices at once, and who record the answers.
package users

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/rethread/rethread/infra/chaos/ledger"
	"github.com/rethread/rethread/shared/base/retry"
)

// M is a JSON object.
type M = map[string]any

const (
	api = "/api/v1"
	// answerTimeout limits the wait for an answer: longer than any function's timeout.
	answerTimeout = 40 * time.Second
	// maxAttempts is how often a device repeats a request with an unknown outcome.
	maxAttempts = 6
	firstRest   = 100 * time.Millisecond
	mostRest    = 2 * time.Second
)

// Call is one request, which may be repeated if its outcome is unknown.
type Call struct {
	Method, Path string
	Body         any
	Type         string // of Body, if it is not JSON
	Key          string // Idempotency-Key
	Repeat       bool
}

// Answer is the final answer to a caller.
type Answer struct {
	Outcome ledger.Outcome
	Status  int
	Tries   int
	Body    []byte
}

// Into decodes the body.
func (a Answer) Into(v any) bool {
	return a.Outcome == ledger.Acked && json.Unmarshal(a.Body, v) == nil
}

// do makes a request until it gets a conclusive answer or runs out of attempts.
func (w *World) do(ctx context.Context, random *rand.Rand, as *Person, c Call) Answer {
	rest := firstRest
	for try := 1; ; try++ {
		a := w.send(ctx, as, c)
		a.Tries = try
		if a.Outcome == ledger.Refused && try > 1 {
			a.Outcome = ledger.Unknown // the cause may be an earlier attempt that succeeded
		}
		if a.Outcome != ledger.Unknown || !c.Repeat || try == maxAttempts || a.isFinal() {
			return a
		}
		if retry.Sleep(ctx, time.Duration(random.Int64N(int64(rest)))) != nil {
			return a
		}
		rest = min(2*rest, mostRest)
	}
}

// isFinal reports whether repeating the request is of no use.
func (a Answer) isFinal() bool {
	return a.Status >= 400 && a.Status < 500 && !wantsRetry(a.Status, a.Body)
}

// wantsRetry reports whether an answer asks for a retry.
func wantsRetry(status int, body []byte) bool {
	return status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || status >= 500 || status == 0 ||
		status == http.StatusConflict && bytes.Contains(body, []byte("under way"))
}

// send makes one attempt.
func (w *World) send(ctx context.Context, as *Person, c Call) Answer {
	began, downs := time.Now(), w.sys.Outages()
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTimeout)
	defer cancel()
	status, body, err := w.exchange(limited, as, c)
	took := time.Since(began)
	if limited.Err() != nil && downs == w.sys.Outages() && downs%2 == 0 {
		w.Violate("stuck", "", fmt.Sprintf("%s %s: no answer after %s", c.Method, c.Path, took))
	}
	a := Answer{Status: status, Body: body, Outcome: ledger.Unknown}
	switch {
	case err != nil:
		a.Status, a.Body = 0, []byte(err.Error())
	case status < 300:
		a.Outcome = ledger.Acked
	case !wantsRetry(status, body):
		a.Outcome = ledger.Refused
	}
	w.Ledger.CountRequest(a.Outcome != ledger.Unknown)
	w.checkAnswer(c, a)
	return a
}

func (w *World) exchange(ctx context.Context, as *Person, c Call) (int, []byte, error) {
	req, err := newRequest(ctx, w.sys.URL, c)
	if err != nil {
		return 0, nil, err
	}
	as.identify(req)
	res, err := w.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	body, err := io.ReadAll(res.Body)
	return res.StatusCode, body, err
}

func newRequest(ctx context.Context, base string, c Call) (*http.Request, error) {
	var payload io.Reader = http.NoBody
	kind := "application/json"
	switch body := c.Body.(type) {
	case nil:
	case []byte:
		payload, kind = bytes.NewReader(body), c.Type
	default:
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		payload = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, c.Method, base+c.Path, payload)
	if err != nil {
		return nil, err
	}
	if c.Body != nil {
		req.Header.Set("Content-Type", kind)
	}
	if c.Key != "" {
		req.Header.Set("Idempotency-Key", c.Key)
	}
	return req, nil
}

// checkAnswer records answers that must never occur.
func (w *World) checkAnswer(c Call, a Answer) {
	if a.Status >= 500 || a.Status == 0 {
		return
	}
	if text := string(a.Body); a.Status >= 400 && (strings.Contains(text, "json: cannot") || strings.Contains(text, "sessions")) {
		w.Violate("answers", "", fmt.Sprintf("%s %s: %d %.300s", c.Method, c.Path, a.Status, text))
	}
}

func parse(body []byte, v any) bool { return json.Unmarshal(body, v) == nil }
