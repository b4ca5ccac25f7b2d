package dynamostore

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/rethread/rethread/shared/fault"
	"github.com/rethread/rethread/shared/session"
)

// header is the item of a session. Appending to the session's log does not
// touch it, except to move the session up in its user's list.
type header struct {
	PK      string         `dynamodbav:"PK"`
	SK      string         `dynamodbav:"SK"`
	User    string         `dynamodbav:"u"`
	App     string         `dynamodbav:"app"`
	Agent   string         `dynamodbav:"agent"`
	Name    string         `dynamodbav:"name"`
	Status  session.Status `dynamodbav:"status"`
	Meta    []byte         `dynamodbav:"m"`
	Log     string         `dynamodbav:"l"` // its own log; a session created again has another
	Epoch   int64          `dynamodbav:"e,omitempty"`
	Version int64          `dynamodbav:"v"`
	Created int64          `dynamodbav:"ct"`
	Touched int64          `dynamodbav:"ut"` // last activity that left no trace in the log
	Nonce   string         `dynamodbav:"n"`
	GPK     string         `dynamodbav:"GPK"`
	GSK     string         `dynamodbav:"GSK"`
}

func (h *header) id() string { return h.PK[len("S#"):] }

func (h *header) timeline() session.Timeline { return session.Own(h.Log) }

// sameLog is the condition that the session is still the one that was read.
func (h *header) sameLog() condition {
	return condition{
		expression: "#l = :l",
		names:      map[string]string{"#l": "l"},
		values:     attributes{":l": str(h.Log)},
	}
}

// header reads a session that the user owns.
func (s *Store) header(ctx context.Context, userID, id string) (*header, error) {
	var h header
	found, err := s.get(ctx, sessionKey(id), &h)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read session %s: %w", id, err)
	case !found:
		return nil, fault.Missing("Session")
	case h.User != userID:
		return nil, fault.NotYours("session")
	}
	return &h, nil
}

// render makes the domain's session out of its header and the head of its log.
func (s *Store) render(h *header, at head) (session.Session, error) {
	var meta json.RawMessage
	if err := s.codec.decode(h.Meta, &meta); err != nil {
		return session.Session{}, fmt.Errorf("metadata of session %s: %w", h.id(), err)
	}
	return session.Session{
		ID:          h.id(),
		UserID:      h.User,
		AppName:     h.App,
		Agent:       h.Agent,
		Name:        h.Name,
		Status:      h.Status,
		Metadata:    meta,
		Epoch:       h.Epoch,
		HeadSeq:     at.last(),
		CreatedTime: h.Created,
		UpdatedTime: max(h.Created, h.Touched, at.time),
		Version:     h.Version,
	}, nil
}

// Get implements session.Store.
func (s *Store) Get(ctx context.Context, userID, id string) (session.Session, error) {
	h, err := s.header(ctx, userID, id)
	if err != nil {
		return session.Session{}, err
	}
	at, err := s.readHead(ctx, h.Log)
	if err != nil {
		return session.Session{}, fmt.Errorf("get session %s: %w", id, err)
	}
	return s.render(h, at)
}
