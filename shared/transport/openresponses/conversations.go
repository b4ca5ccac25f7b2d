package openresponses

import (
	"net/http"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
	"github.com/rethread/rethread/shared/transport/openresponses/responsesconvert"
)

// conversationOf returns a session as a conversation.
func conversationOf(of session.Session) map[string]any {
	return map[string]any{
		"id": of.ID, "object": "conversation", "created_at": of.CreatedTime / 1000, "metadata": of.Metadata,
	}
}

// ofPath reads the session that a request's path names, for an action.
func (s *server) ofPath(r *http.Request, a access.Action) (session.Session, error) {
	id := frontend.PathParameter(r, "conversation_id")
	if err := ids.Check("conversation_id", id); err != nil {
		return session.Session{}, err
	}
	return s.readSession(r.Context(), id, a)
}

// body reads a body with some members, which may be empty.
func body(w http.ResponseWriter, r *http.Request, members ...string) (jsonx.Object, error) {
	if r.ContentLength == 0 {
		return jsonx.Object{}, nil
	}
	raw, err := frontend.ReadBody(w, r)
	if err != nil {
		return jsonx.Object{}, err
	}
	o, err := jsonx.ParseBody(raw)
	if err != nil {
		return o, err
	}
	responsesconvert.DropNulls(o)
	return o, o.Only(members...)
}

// postConversation creates a session, with items if the request has any.
func (s *server) postConversation(w http.ResponseWriter, r *http.Request) error {
	o, err := body(w, r, "items", "metadata")
	if err != nil {
		return err
	}
	metadata, err := responsesconvert.ParseMetadata(o)
	if err != nil {
		return err
	}
	items, err := responsesconvert.ParseItems(o, maxItems)
	if err != nil {
		return err
	}
	added, err := responsesconvert.Append(items, nil)
	if err != nil {
		return err
	}
	id, nonce := s.NewID(), s.NewID()
	if key := r.Header.Get("Idempotency-Key"); key != "" {
		id = conversation.Digest(access.CallerOf(r.Context()).UserID, key)
		nonce = id
	}
	fresh := session.New{ID: newConversation(id), UserID: access.CallerOf(r.Context()).UserID, Metadata: metadata, Nonce: nonce}
	of, err := s.Create(r.Context(), fresh)
	if err != nil {
		return err
	}
	if _, err := s.appendItems(r, of, added, "items-"+id); err != nil {
		return err
	}
	return frontend.WriteJSON(w, conversationOf(of))
}

func (s *server) getConversation(w http.ResponseWriter, r *http.Request) error {
	of, err := s.ofPath(r, access.ReadSession)
	if err != nil {
		return err
	}
	return frontend.WriteJSON(w, conversationOf(of))
}

// updateConversation replaces the metadata of a session.
func (s *server) updateConversation(w http.ResponseWriter, r *http.Request) error {
	o, err := body(w, r, "metadata")
	if err != nil {
		return err
	}
	if err := o.Required("metadata"); err != nil {
		return err
	}
	metadata, err := responsesconvert.ParseMetadata(o)
	if err != nil {
		return err
	}
	of, err := s.ofPath(r, access.Rename)
	if err != nil {
		return err
	}
	if of, err = s.Sessions.Update(r.Context(), of.UserID, of.ID, session.Patch{Metadata: metadata}); err != nil {
		return err
	}
	return frontend.WriteJSON(w, conversationOf(of))
}

// deleteConversation deletes a session and everything that belongs to it.
func (s *server) deleteConversation(w http.ResponseWriter, r *http.Request) error {
	of, err := s.ofPath(r, access.Delete)
	if err != nil {
		return err
	}
	if err := s.Sessions.Delete(r.Context(), of.UserID, of.ID); err != nil {
		return err
	}
	return frontend.WriteJSON(w, map[string]any{"id": of.ID, "object": "conversation.deleted", "deleted": true})
}
