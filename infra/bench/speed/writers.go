package speed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/bench/prose"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
)

// textBytes is the length of an event's text.
const textBytes = 300

// bench is a scenario under way.
type bench struct {
	store    *stores.Store
	engine   table.Engine
	user     string
	scenario Scenario
	writers  []writer
	puts     atomic.Int64
}

// writer appends events to a session. Their ids name their invocation, as those of the
// official clients do.
type writer struct {
	session, invocation string
	next                *atomic.Int64 // number of the next id of the invocation
}

// create creates the sessions, with the first event of each invocation.
func (b *bench) create(ctx context.Context) error {
	shared := writer{session: uuid.NewString(), invocation: uuid.NewString(), next: &atomic.Int64{}}
	for n := range b.scenario.Writers {
		w := writer{session: uuid.NewString(), invocation: uuid.NewString(), next: &atomic.Int64{}}
		if b.scenario.Shared {
			w.session = shared.session
			if !b.scenario.Own {
				w = shared
			}
		}
		if n == 0 || !b.scenario.Shared {
			if _, err := b.store.Sessions.Create(ctx, session.New{ID: w.session, UserID: b.userOf(w), AppName: "bench", Nonce: uuid.NewString()}); err != nil {
				return fmt.Errorf("create a session: %w", err)
			}
		}
		b.writers = append(b.writers, w)
		if refused, err := b.append(ctx, n); err != nil || refused {
			return fmt.Errorf("append the first event: refused %v: %w", refused, err)
		}
	}
	return nil
}

// userOf returns the owner of a writer's session. Sessions have owners of their own:
// those of one owner would take turns at the top of its list.
func (b *bench) userOf(w writer) string { return b.user + w.session }

func (b *bench) append(ctx context.Context, n int) (refused bool, err error) {
	w := b.writers[n]
	number := w.next.Add(1)
	e := map[string]any{
		"id": fmt.Sprintf("%s.%d", w.invocation, number), "invocation_id": w.invocation, "author": "user",
		"content": map[string]any{"role": "user", "parts": []map[string]any{{"text": prose.Text(int(number), textBytes)}}},
	}
	raw, err := json.Marshal(e)
	if err != nil {
		return false, fmt.Errorf("encode an event: %w", err)
	}
	event, err := session.ParseEvent(raw, "")
	if err != nil {
		return false, err
	}
	_, _, err = b.store.Sessions.Append(ctx, session.Append{SessionID: w.session, UserID: b.userOf(w), Events: []session.Event{event}})
	if errors.Is(err, fault.Of(fault.Busy)) {
		return true, nil
	}
	return false, err
}

// put stores an item that is as large as an event, on condition that its key is free.
func (b *bench) put(ctx context.Context, n int) (refused bool, err error) {
	number := b.puts.Add(1)
	_, err = b.engine.Write(ctx, table.Put(struct {
		PK, SK string
		Body   []byte `dynamodbav:"b"`
	}{"BENCH#" + b.userOf(b.writers[n]), fmt.Sprintf("E#%012d", number), []byte(prose.Text(int(number), textBytes))}, table.ItemNotExists()))
	return false, err
}
