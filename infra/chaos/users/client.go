// Package users are people who use the system at random, by a seed, each with a
// few devices at once, and who note what they were told.
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
	"github.com/rethread/rethread/shared/base/sleep"
)

// M is a JSON object.
type M = map[string]any

const (
	api = "/api/v1"
	// patience is how long an answer may take: more than any function's time.
	patience = 40 * time.Second
	// mostTries is how often a device asks again where it does not know.
	mostTries = 6
	firstRest = 100 * time.Millisecond
	mostRest  = 2 * time.Second
)

// Call is one request, which may be repeated where its outcome is not known.
type Call struct {
	Method, Path string
	Body         any
	Type         string // of Body, where it is no JSON
	Key          string // Idempotency-Key
	Repeat       bool
}

// Answer is what a caller was told in the end.
type Answer struct {
	Outcome ledger.Outcome
	Status  int
	Tries   int
	Body    []byte
}

// Into reads the body.
func (a Answer) Into(v any) bool {
	return a.Outcome == ledger.Acked && json.Unmarshal(a.Body, v) == nil
}

// do asks until it is told something, or out of tries.
func (w *World) do(ctx context.Context, random *rand.Rand, as *Person, c Call) Answer {
	rest := firstRest
	for try := 1; ; try++ {
		a := w.send(ctx, as, c)
		a.Tries = try
		if a.Outcome == ledger.Refused && try > 1 {
			a.Outcome = ledger.Unknown // it may be what was done before that is in the way
		}
		if a.Outcome != ledger.Unknown || !c.Repeat || try == mostTries || a.told() {
			return a
		}
		if sleep.For(ctx, time.Duration(random.Int64N(int64(rest)))) != nil {
			return a
		}
		rest = min(2*rest, mostRest)
	}
}

// told reports whether asking again is of no use.
func (a Answer) told() bool { return a.Status >= 400 && a.Status < 500 && !again(a.Status, a.Body) }

// again reports whether an answer asks to come back later.
func again(status int, body []byte) bool {
	return status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || status >= 500 || status == 0 ||
		status == http.StatusConflict && bytes.Contains(body, []byte("under way"))
}

// send asks once.
func (w *World) send(ctx context.Context, as *Person, c Call) Answer {
	began, downs := time.Now(), w.sys.Downs()
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	status, body, err := w.exchange(limited, as, c)
	took := time.Since(began)
	if limited.Err() != nil && downs == w.sys.Downs() && downs%2 == 0 {
		w.Violate("stuck", "", fmt.Sprintf("%s %s has no answer after %s", c.Method, c.Path, took))
	}
	a := Answer{Status: status, Body: body, Outcome: ledger.Unknown}
	switch {
	case err != nil:
		a.Status, a.Body = 0, []byte(err.Error())
	case status < 300:
		a.Outcome = ledger.Acked
	case !again(status, body):
		a.Outcome = ledger.Refused
	}
	w.Ledger.Counted(a.Outcome != ledger.Unknown)
	w.notice(c, a)
	return a
}

func (w *World) exchange(ctx context.Context, as *Person, c Call) (int, []byte, error) {
	req, err := newRequest(ctx, w.sys.URL, c)
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+as.Token)
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

// notice tells answers that nobody may ever get.
func (w *World) notice(c Call, a Answer) {
	if a.Status >= 500 || a.Status == 0 {
		return
	}
	if text := string(a.Body); a.Status >= 400 && (strings.Contains(text, "json: cannot") || strings.Contains(text, "sessions")) {
		w.Violate("answers", "", fmt.Sprintf("%s %s: %d %.300s", c.Method, c.Path, a.Status, text))
	}
}

func parse(body []byte, v any) bool { return json.Unmarshal(body, v) == nil }
