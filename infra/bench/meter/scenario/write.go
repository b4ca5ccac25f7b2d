package scenario

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/bench/prose"
)

// Names of scenarios that write turns.
const (
	Unsafe         = "turns as batches of two, not safe to resend"
	SafeInvocation = "turns as batches of two, safe to resend by ids that name their invocation"
	SafeIDs        = "turns as batches of two, safe to resend by other ids"
	SafeKey        = "turns as batches of two, safe to resend by Idempotency-Key"
	Single         = "turns as single events, safe to resend by ids that name their invocation"
)

const (
	questionBytes, answerBytes = 300, 2000
	batchTurns                 = 50 // the largest batch has 100 events
)

func question(n int) string { return prose.Text(n, questionBytes) }

func answer(n int) string { return prose.Text(-n-1, answerBytes) }

func event(invocation, author, text string) object {
	role := "model"
	if author == "user" {
		role = "user"
	}
	return object{
		"invocation_id": invocation, "author": author,
		"content": object{"role": role, "parts": []object{{"text": text}}},
	}
}

// newTurn returns the events of another turn.
func (t *trial) newTurn() []object {
	t.turn++
	invocation := uuid.NewString()
	if t.oldest == "" {
		t.oldest = invocation
	}
	return []object{event(invocation, "user", question(t.turn)), event(invocation, "assistant", answer(t.turn))}
}

// named gives events ids that name their invocation, as our clients do.
func named(events []object) []object {
	for i, e := range events {
		e["id"] = fmt.Sprintf("%s.%d", e["invocation_id"], i)
	}
	return events
}

func (t *trial) append(ctx context.Context, events []object, header ...string) error {
	return t.client.post(ctx, t.session+"/events", object{"events": events}, nil, header...)
}

// fill appends turns in large batches. The newest is an ordinary one, because an append
// reads what is before it.
func (t *trial) fill(ctx context.Context, turns int) error {
	for left := turns - 1; left > 0; left -= batchTurns {
		var events []object
		for range min(left, batchTurns) {
			events = append(events, t.newTurn()...)
		}
		if err := t.append(ctx, events); err != nil {
			return err
		}
	}
	return t.append(ctx, t.newTurn())
}

func (t *trial) write(ctx context.Context) error {
	for _, s := range []struct {
		name string
		turn func() error
	}{
		{Unsafe, func() error { return t.append(ctx, t.newTurn()) }},
		{SafeInvocation, func() error { return t.append(ctx, named(t.newTurn())) }},
		{SafeIDs, func() error {
			events := t.newTurn()
			for _, e := range events {
				e["id"] = uuid.NewString()
			}
			return t.append(ctx, events)
		}},
		{SafeKey, func() error { return t.append(ctx, t.newTurn(), "Idempotency-Key", uuid.NewString()) }},
		{Single, func() error {
			for _, e := range named(t.newTurn()) {
				if err := t.append(ctx, []object{e}); err != nil {
					return err
				}
			}
			return nil
		}},
	} {
		err := t.measure(ctx, s.name, t.Turns, func() error {
			for range t.Turns {
				if err := s.turn(); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
