package a2a

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/output"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// recordMember is the member of an event with its record, beside what the A2A server
// keeps of a user's message under the same name.
const recordMember = "a2a"

// record is what an event of an A2A agent keeps of where it came from, so that a
// later run can continue there.
type record struct {
	ContextID string `json:"context_id,omitempty"`
	TaskID    string `json:"task_id,omitempty"`
	State     state  `json:"state,omitempty"` // of the task
	// Item is the id of the artifact or message, and Digest that of what it said.
	Item   string `json:"item,omitempty"`
	Digest string `json:"digest,omitempty"`
	// Agent, SessionID, LogID and Epoch are whose context it is. A rewind changes the
	// epoch, a fork the session, and an import the log: each begins a context of its own.
	Agent     string `json:"agent"`
	SessionID string `json:"session_id"`
	LogID     string `json:"log_id"`
	Epoch     int64  `json:"epoch"`
	// Told is the position of the last event that the agent has been told.
	Told int64 `json:"told"`
	// Proof shows that this agent's client wrote the record: users can append events
	// of any content, and a context may be another user's.
	Proof string `json:"proof,omitempty"`
}

// proof returns the authentication code of a record, with what the agent's callers
// have to know as its key: its address and the configured headers.
func (a *Agent) proof(userID, appName string, r record) (string, error) {
	key, err := json.Marshal([]any{"a2a context", a.endpoint.URL, a.header})
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

// recordOf returns the record of an event if it is of the request's session, as it
// is since its last rewind, and of its agent.
func (a *Agent) recordOf(event session.Event, req run.Request) (record, bool) {
	var r record
	if raw := event.Fields[recordMember]; jsonx.IsNull(raw) || json.Unmarshal(raw, &r) != nil {
		return r, false // of another kind
	}
	if r.Agent != req.Agent || r.SessionID != req.SessionID || r.LogID != req.LogID || r.Epoch != req.Epoch {
		return r, false
	}
	want, err := a.proof(req.UserID, req.AppName, r)
	return r, err == nil && hmac.Equal([]byte(want), []byte(r.Proof))
}

// past is what a run needs of what came before it.
type past struct {
	record record          // the newest one
	found  bool            // there is one, so its context goes on
	news   []session.Event // events that the agent has not been told
	said   map[string]string
}

// pastOf finds the context to continue. Without one, everything is news.
func (a *Agent) pastOf(req run.Request) past {
	past := past{news: req.Events, said: map[string]string{}}
	invocation, own := "", output.AuthorOf(req)
	for _, event := range slices.Backward(slices.Concat(req.Events, req.Said)) {
		r, ok := a.recordOf(event, req)
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
