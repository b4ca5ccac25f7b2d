package agent

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// a2aMember is the member of an event with its a2aRecord, beside what the A2A server
// keeps of a user's message under the same name.
const a2aMember = "a2a"

// a2aRecord is what an event of an A2A agent keeps of where it came from, so that a
// later run can continue there.
type a2aRecord struct {
	ContextID string   `json:"context_id,omitempty"`
	TaskID    string   `json:"task_id,omitempty"`
	State     a2aState `json:"state,omitempty"` // of the task
	// Item is the id of the artifact or message, and Digest that of what it said.
	Item   string `json:"item,omitempty"`
	Digest string `json:"digest,omitempty"`
	// Agent, SessionID and Epoch are whose context it is. A rewind changes the epoch,
	// and a fork the session: both begin a context of their own.
	Agent     string `json:"agent"`
	SessionID string `json:"session_id"`
	Epoch     int64  `json:"epoch"`
	// Told is the position of the last event that the agent has been told.
	Told int64 `json:"told"`
	// Proof shows that this agent's client wrote the record: users can append events
	// of any content, and a context may be another user's.
	Proof string `json:"proof,omitempty"`
}

// proof returns the authentication code of a record, with what the agent's callers
// have to know as its key: its address and the configured headers.
func (e *endpoint) proof(userID, appName string, r a2aRecord) (string, error) {
	key, err := json.Marshal([]any{"a2a context", e.url, e.header})
	if err != nil {
		return "", err
	}
	r.Proof = ""
	text, err := json.Marshal([]any{userID, appName, r})
	if err != nil {
		return "", err
	}
	code := hmac.New(sha256.New, key)
	code.Write(text) // never fails
	return base64.RawURLEncoding.EncodeToString(code.Sum(nil)[:16]), nil
}

// a2aRecordOf returns the record of an event if it is of the request's session, as it
// is since its last rewind, and of its agent.
func (e *endpoint) a2aRecordOf(event session.Event, req run.Request) (a2aRecord, bool) {
	var r a2aRecord
	if raw := event.Fields[a2aMember]; jsonx.IsNull(raw) || json.Unmarshal(raw, &r) != nil {
		return r, false // of another kind
	}
	if r.Agent != req.Agent || r.SessionID != req.SessionID || r.Epoch != req.Epoch {
		return r, false
	}
	want, err := e.proof(req.UserID, req.AppName, r)
	return r, err == nil && hmac.Equal([]byte(want), []byte(r.Proof))
}

// a2aPast is what a run needs of what came before it.
type a2aPast struct {
	record a2aRecord       // the newest one
	found  bool            // there is one, so its context goes on
	news   []session.Event // events that the agent has not been told
	said   map[string]string
}

// pastOf finds the context to continue. Without one, everything is news.
func (e *endpoint) pastOf(req run.Request) a2aPast {
	past := a2aPast{news: req.Events, said: map[string]string{}}
	invocation, own := "", cmp.Or(req.Agent, nameless)
	for _, event := range slices.Backward(slices.Concat(req.Events, req.Said)) {
		r, ok := e.a2aRecordOf(event, req)
		switch {
		case !ok:
			continue
		case !past.found:
			past.record, past.found, invocation = r, true, event.InvocationID
		case r.TaskID != past.record.TaskID:
			continue
		}
		if _, newer := past.said[r.Item]; !newer && r.Item != "" {
			past.said[r.Item] = r.Digest
		}
	}
	if past.found {
		past.news = slices.DeleteFunc(slices.Clone(req.Events), func(event session.Event) bool {
			return event.Seq <= past.record.Told || event.InvocationID == invocation && event.Author == own
		})
	}
	return past
}
