package frontendtest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
)

const (
	questionLen = 300
	answerLen   = 2000
	letters     = "abcdefghijklmnopqrstuvwxyz"
)

// Grow gives one of alice's sessions that many more turns, each a question of 300 and an
// answer of 2,000 characters that do not compress well. A question's message has the id
// u<n>, its invocation is r<n>. It creates the session if turns begin with 0.
func (r *Rig) Grow(t testing.TB, sessionID string, from, until int) {
	t.Helper()
	if from == 0 {
		if _, err := r.Store.Sessions.Create(t.Context(), session.New{ID: sessionID, UserID: Alice, Agent: "helper", Nonce: "n"}); err != nil {
			t.Fatal(err)
		}
	}
	random := property.Rand(t, from)
	for i := from; i < until; i++ {
		question, answer := event(t, i, "user", words(random, questionLen)), event(t, i, "helper", words(random, answerLen))
		question.Fields["ag_ui_input"] = json.RawMessage(fmt.Sprintf(`{"message_id":"u%d"}`, i))
		_, _, err := r.Store.Sessions.Append(t.Context(), session.Append{SessionID: sessionID, UserID: Alice, Events: []session.Event{question, answer}})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func event(t testing.TB, turn int, author, text string) session.Event {
	t.Helper()
	raw, err := jsonx.Marshal(map[string]any{"role": author, "parts": []any{map[string]any{"text": text}}})
	if err != nil {
		t.Fatal(err)
	}
	return session.Event{
		InvocationID: fmt.Sprintf("r%d", turn), Author: author, Fields: map[string]json.RawMessage{"content": raw},
	}
}

func words(random *rand.Rand, length int) string {
	var b strings.Builder
	for b.Len() < length {
		for range 2 + random.IntN(8) {
			b.WriteByte(letters[random.IntN(len(letters))])
		}
		b.WriteByte(' ')
	}
	return b.String()[:length]
}
