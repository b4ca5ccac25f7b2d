package cost

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/transport/rest"
	"github.com/rethread/rethread/shared/transport/rest/sessions"
)

// answerLength is the length of an answer in this package's prose that takes as many
// bytes, compressed, as 2,000 characters of ordinary prose: its sentences, in a random
// order, have little in common.
const answerLength = 1620

// MeasuredTurns is how many turns Requests appends for each of its rows.
const MeasuredTurns = 100

// way is one way to send the turns of a conversation.
type way struct {
	operation           string
	maxReads, maxWrites float64
	single              bool // one request an event, not one a turn
	id                  func(invocation string, n int) string
	key                 bool
}

func named(invocation string, n int) string { return fmt.Sprintf("%s.%d", invocation, n) }

func ways() []way {
	none := func(string, int) string { return "" }
	return []way{
		{operation: "100 turns, not safe to resend", maxWrites: 258, maxReads: 200, id: none},
		{operation: "100 turns, safe by ids that name their invocation", maxWrites: 300, maxReads: 200, id: named},
		{operation: "100 turns, one request an event, by such ids", maxWrites: 330, maxReads: 400, id: named, single: true},
		{operation: "100 turns, safe by Idempotency-Key", maxWrites: 370, maxReads: 400, id: none, key: true},
	}
}

// Requests appends MeasuredTurns turns, with as many bytes as 300 and 2,000 characters of
// ordinary prose, to a session with a
// history of that many turns, by whole HTTP requests, in each way that callers may
// choose.
func Requests(ctx context.Context, engine table.Engine, history int) ([]Row, error) {
	var rows []Row
	for _, w := range ways() {
		r := &requests{meter: &capacity.Meter{}, user: "user-" + uuid.NewString(), session: uuid.NewString(), prose: prose}
		store := stores.New(r.meter.Around(engine))
		c := rest.Config{
			Sessions: store.Sessions, Idempotency: store.Idempotency, Grants: store.Shares,
			Log: slog.New(slog.DiscardHandler), Now: time.Now, NewID: uuid.NewString,
		}
		r.sessions, r.events = sessions.Sessions(c), sessions.Events(c) //nolint:contextcheck // each request carries its context
		if err := r.send(ctx, r.sessions, "/sessions", "", map[string]any{"id": r.session}); err != nil {
			return nil, err
		}
		before := w
		before.single = false
		for n := 0; n < history-recentTurns; n += turnsAtOnce {
			if err := r.turns(ctx, before, n, min(turnsAtOnce, history-recentTurns-n)); err != nil {
				return nil, err
			}
		}
		for n := max(0, history-recentTurns); n < history; n++ {
			if err := r.turns(ctx, before, n, 1); err != nil {
				return nil, err
			}
		}
		start := r.meter.Total()
		for n := range MeasuredTurns {
			if err := r.turns(ctx, w, history+n, 1); err != nil {
				return nil, err
			}
		}
		rows = append(rows, Row{
			Operation: w.operation, History: history, Usage: r.meter.Total().Sub(start), MaxReads: w.maxReads, MaxWrites: w.maxWrites,
		})
	}
	return rows, nil
}

// requests sends requests to the handlers of the HTTP API.
type requests struct {
	meter            *capacity.Meter
	user, session    string
	sessions, events http.Handler
	prose            func(seed, length int) string
}

// recentTurns is how many turns of a history are appended one by one; those before them
// come turnsAtOnce in a request.
const recentTurns, turnsAtOnce = 100, 50

// turns appends questions and their answers.
func (r *requests) turns(ctx context.Context, w way, first, count int) error {
	var batch []any
	for n := first; n < first+count; n++ {
		invocation := uuid.NewString()
		batch = append(batch,
			sent(w.id(invocation, 1), invocation, "user", r.prose(n, 300)),
			sent(w.id(invocation, 2), invocation, "assistant", r.prose(-n-1, answerLength)))
	}
	bodies := []any{map[string]any{"events": batch}}
	if w.single {
		bodies = []any{map[string]any{"events": batch[:1]}, map[string]any{"events": batch[1:]}}
	}
	for _, body := range bodies {
		key := ""
		if w.key {
			key = uuid.NewString()
		}
		if err := r.send(ctx, r.events, "/sessions/"+r.session+"/events", key, body); err != nil {
			return err
		}
	}
	return nil
}

// sent returns an event as a client sends it.
func sent(id, invocation, author, text string) map[string]any {
	role := "model"
	if author == "user" {
		role = "user"
	}
	e := map[string]any{
		"invocation_id": invocation, "author": author,
		"content": map[string]any{"role": role, "parts": []any{map[string]any{"text": text}}},
	}
	if id != "" {
		e["id"] = id
	}
	return e
}

// send makes a request and requires that it creates something.
func (r *requests) send(ctx context.Context, to http.Handler, path, key string, body any) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode a request: %w", err)
	}
	req := httptest.NewRequestWithContext(access.WithCaller(ctx, access.Caller{UserID: r.user, ChangesApp: true}), http.MethodPost, "/api/v1"+path, bytes.NewReader(encoded))
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	answer := httptest.NewRecorder()
	to.ServeHTTP(answer, req)
	if answer.Code != http.StatusCreated {
		return fmt.Errorf("POST %s: status %d: %s", path, answer.Code, answer.Body)
	}
	return nil
}
