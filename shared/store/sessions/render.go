package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/table"
)

// Render returns the domain's session for a header and the head of its log.
func (s *reader) Render(ctx context.Context, h *Header, head eventlog.Head) (session.Session, error) {
	return s.render(ctx, h, head.Last(), max(h.Created, h.ActiveAt(), head.Time))
}

func (s *reader) render(ctx context.Context, h *Header, head, updated int64) (session.Session, error) {
	meta, err := s.Metadata(ctx, h)
	if err != nil {
		return session.Session{}, err
	}
	out := session.Session{
		ID:          h.ID(),
		UserID:      h.User,
		AppName:     h.App,
		Agent:       h.Agent,
		Name:        h.Name,
		Status:      h.Status,
		Metadata:    meta,
		Epoch:       h.Epoch,
		HeadSeq:     head,
		CreatedTime: h.Created,
		UpdatedTime: updated,
		Version:     h.Version,
	}
	if h.Run != "" {
		out.ActiveRunID = &h.Run
	}
	if h.Retention > 0 {
		out.Retention, out.ExpiresTime = h.Retention, h.Retained().Expires(out.UpdatedTime)
	}
	if o := h.Origin; o != nil {
		out.Fork = &session.Fork{
			SessionID: o.Session, RewindBeforeInvocationID: o.Before, BoundaryFound: o.Found, Taken: o.Base,
		}
	}
	return out, nil
}

// Each rewind and each fork rewrites a header, so metadata of more than a few hundred bytes
// are in an item of the session's log, which never changes. The header refers to it, and
// the header of a fork to the same item: a log stays while forks read it.

const (
	// metadataInline is how many bytes of metadata, as they are stored, a header has itself.
	metadataInline = 512
	// refers begins a reference to an item with metadata. No encoding begins so.
	refers = "\xfe"
)

// metadataItem is metadata of a session.
type metadataItem struct {
	PK   string `dynamodbav:"PK"`
	SK   string `dynamodbav:"SK"`
	Meta []byte `dynamodbav:"m"`
}

// metadataKey returns the key of the item that a header's metadata refer to; false if the
// header has them itself.
func metadataKey(meta []byte) (table.Key, bool) {
	ref, ok := strings.CutPrefix(string(meta), refers)
	log, id, _ := strings.Cut(ref, "/")
	return table.NewKey(keys.LogPK(log), keys.PrefixMetadata+id), ok
}

// Metadata returns the session's metadata. What the header refers to may have been replaced
// since: then the header is read again.
func (s *reader) Metadata(ctx context.Context, h *Header) (meta json.RawMessage, err error) {
	encoded := h.Meta
	for h.RefersToMetadata() {
		if err := s.readMetadata(ctx, h); err != nil {
			return nil, err
		}
		if encoded = h.metadata; encoded != nil {
			break
		}
		now, err := s.Header(ctx, h.User, h.ID())
		switch {
		case err != nil:
			return nil, err
		case now.Log != h.Log:
			return nil, eventlog.MissingSession()
		case string(now.Meta) == string(h.Meta):
			return nil, fmt.Errorf("metadata of session %s: %w: the item is missing", h.ID(), table.ErrUnreadable)
		}
		h, encoded = now, now.Meta
	}
	if err = s.content.Decode(encoded, &meta); err != nil {
		err = fmt.Errorf("metadata of session %s: %w", h.ID(), err)
	}
	return meta, err
}

// readMetadata reads what headers refer to, of those that it has not been read for.
func (s *reader) readMetadata(ctx context.Context, headers ...*Header) error {
	wanted := map[table.Key][]*Header{}
	for _, h := range headers {
		if k, ok := metadataKey(h.Meta); ok && h.metadata == nil {
			wanted[k] = append(wanted[k], h)
		}
	}
	items, err := s.DB.BatchGetFixed(ctx, slices.Collect(maps.Keys(wanted)))
	if err != nil {
		return fmt.Errorf("read metadata: %w", err)
	}
	for k, item := range items {
		var m metadataItem
		if err := table.Decode(item, &m); err != nil {
			return fmt.Errorf("unmarshal metadata: %w", err)
		}
		for _, h := range wanted[k] {
			h.metadata = m.Meta
		}
	}
	return nil
}

// SetMetadata sets the header's metadata, and returns the item for large ones, nil for none.
func (s *departures) SetMetadata(h *Header, meta []byte) *metadataItem {
	h.Meta, h.metadata = meta, nil
	if _, refers := metadataKey(meta); refers || len(meta) <= metadataInline {
		return nil
	}
	id := s.Random().String()
	h.Meta, h.metadata = []byte(refers+h.Log+"/"+id), meta
	return &metadataItem{PK: keys.LogPK(h.Log), SK: keys.PrefixMetadata + id, Meta: meta}
}

// RefersToMetadata reports whether the metadata are in an item.
func (h *Header) RefersToMetadata() bool {
	_, ok := metadataKey(h.Meta)
	return ok
}

// replaceable reports whether no other session refers to the item with the header's metadata.
func (h *Header) replaceable() (table.Key, bool) {
	k, ok := metadataKey(h.Meta)
	return k, ok && k.PK == keys.LogPK(h.Log) && h.ForkCount == 0
}
