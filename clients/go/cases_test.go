package rethread_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	rethread "github.com/rethread/rethread/clients/go"
)

// recordedCase is a file of clients/cases; its README describes the members.
type recordedCase struct {
	Name   string
	Why    string
	Tokens []string
	Call   *recordedCall
	Watch  *struct {
		SessionID string `json:"session_id"`
	}
	Exchanges []exchange
	Outcome   outcome
}

type outcome struct {
	Result json.RawMessage
	Error  *wantError
	Shows  json.RawMessage
	Ends   *wantError
}

type wantError struct {
	Status       int
	Kind         *string
	Type         *string
	Code         *string
	Title        *string
	Detail       *string
	Errors       []rethread.FieldError
	RequestID    *string `json:"request_id"`
	RetryAfterMS *int64  `json:"retry_after_ms"`
	Members      map[string]any
	Reason       *string
}

// TestRecordedCases runs the cases that all clients have in common.
func TestRecordedCases(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../cases/*.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 30 {
		t.Fatalf("only %d cases", len(files))
	}
	for _, file := range files {
		c := mustReadCase(t, file)
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { c.run(t) })
		})
	}
}

func mustReadCase(t *testing.T, file string) recordedCase {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var c recordedCase
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	decoder.DisallowUnknownFields() // a rule that this runner does not know would be skipped
	if err := decoder.Decode(&c); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return c
}

func (c recordedCase) run(t *testing.T) {
	t.Helper()
	server := &scriptedServer{t: t, exchanges: c.Exchanges, used: make([]bool, len(c.Exchanges)), keys: map[int][2]string{}}
	client, err := rethread.New(rethread.Config{
		URL: "https://api.example", StreamURL: "https://api.example", Token: tokensOf(c.Tokens), HTTP: server.client(),
		Random: func() float64 { return 0 },
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.Call != nil {
		got, err := c.Call.make(t.Context(), client)
		c.Outcome.compareCall(t, got, err)
	} else {
		c.watch(t, client, server)
	}
	server.wantAllUsed()
}

// watch watches until the session shows what it should after all exchanges, or has ended.
func (c recordedCase) watch(t *testing.T, client *rethread.Client, server *scriptedServer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var last rethread.Watched
	var ended error
	for session, err := range client.Watch(ctx, c.Watch.SessionID) {
		if ended = err; err != nil {
			break
		}
		last = session
		synctest.Wait() // later messages may have arrived
		if c.Outcome.Shows != nil && server.allUsed() && shownDiffers(c.Outcome.Shows, session) == "" {
			synctest.Wait()
			return
		}
	}
	if c.Outcome.Ends == nil {
		t.Fatalf("watching ended with %v, and showed: %s", ended, shownDiffers(c.Outcome.Shows, last))
	}
	c.Outcome.Ends.compare(t, ended)
}

// tokensOf returns a source of tokens, each of which is returned until it is rejected.
func tokensOf(tokens []string) rethread.TokenSource {
	if len(tokens) == 0 {
		tokens = []string{"token"}
	}
	var mu sync.Mutex
	return func(_ context.Context, rejected string) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if rejected == tokens[0] && len(tokens) > 1 {
			tokens = tokens[1:]
		}
		return tokens[0], nil
	}
}

func (o outcome) compareCall(t *testing.T, got any, err error) {
	t.Helper()
	switch {
	case o.Error != nil:
		o.Error.compare(t, err)
	case err != nil:
		t.Errorf("the call failed: %v", err)
	default:
		if diff := differs(o.Result, got); diff != "" {
			t.Error(diff)
		}
	}
}

// kinds are the errors for the kinds of the cases.
var kinds = map[string]error{ //nolint:gochecknoglobals // a constant
	"invalid": rethread.ErrInvalid, "unauthorized": rethread.ErrUnauthorized, "forbidden": rethread.ErrForbidden,
	"not_found": rethread.ErrNotFound, "conflict": rethread.ErrConflict, "deleted": rethread.ErrDeleted,
	"precondition_failed": rethread.ErrPreconditionFailed, "rate_limited": rethread.ErrRateLimited,
	"unavailable": rethread.ErrUnavailable, "connection": rethread.ErrConnection, "timeout": rethread.ErrTimeout,
}

func (w *wantError) compare(t *testing.T, err error) {
	t.Helper()
	var got *rethread.Error
	if !errors.As(err, &got) {
		t.Fatalf("got %v, not an Error", err)
	}
	if got.Status != w.Status {
		t.Errorf("got status %d, not %d: %v", got.Status, w.Status, err)
	}
	for kind, sentinel := range kinds {
		if want := w.Kind != nil && *w.Kind == kind; errors.Is(err, sentinel) != want {
			t.Errorf("whether it is of the kind %s: %t, want %t", kind, !want, want)
		}
	}
	if got.Detail == "" {
		t.Error("it has no text")
	}
	equal(t, "type", w.Type, got.Type)
	equal(t, "code", w.Code, string(got.Code))
	if w.Code != nil && !errors.Is(err, rethread.CodeError(*w.Code)) {
		t.Errorf("it is not %s", *w.Code)
	}
	equal(t, "title", w.Title, got.Title)
	equal(t, "detail", w.Detail, got.Detail)
	equal(t, "request_id", w.RequestID, got.RequestID)
	equal(t, "retry_after_ms", w.RetryAfterMS, got.RetryAfter.Milliseconds())
	reason, _ := got.Members["reason"].(string)
	equal(t, "reason", w.Reason, reason)
	if w.Errors != nil {
		if len(w.Errors) != len(got.Errors) {
			t.Fatalf("got errors %v, not %v", got.Errors, w.Errors)
		}
		for i := range w.Errors {
			equal(t, "error", &w.Errors[i], got.Errors[i])
		}
	}
	for name, want := range w.Members {
		if got.Members[name] != want {
			t.Errorf("got %s %v, not %v", name, got.Members[name], want)
		}
	}
}

func equal[T comparable](t *testing.T, what string, want *T, got T) {
	t.Helper()
	if want != nil && got != *want {
		t.Errorf("got %s %v, not %v", what, got, *want)
	}
}
