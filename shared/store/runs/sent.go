package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// sentItem is a request as it was sent to an agent. It is in the partition of the log, and
// so deleted with it; no entry refers to it, so that neither a rewind nor a fork meets it.
type sentItem struct {
	PK string `dynamodbav:"PK"`
	SK string `dynamodbav:"SK"`
	records.Body
	Expires int64 `dynamodbav:"expires"` // epoch seconds
}

// sentBody is the content of a sentItem.
type sentBody struct {
	run.SentRequest
	Run  string `json:"run_id"`
	size int    // of its JSON
}

// DecodeJSON implements records.Decoder.
func (b *sentBody) DecodeJSON(plain []byte) error {
	type own sentBody
	b.size = len(plain)
	return json.Unmarshal(plain, (*own)(b))
}

// KeepsRequests reports whether requests to agents are kept.
func (s *settler) KeepsRequests() bool { return s.slots.usage.Quotas.RequestDays > 0 }

// LastKept returns until when a request is kept that is sent now.
func (s *settler) LastKept() time.Time {
	return s.Now().Add(time.Duration(s.slots.usage.Quotas.RequestDays) * 24 * time.Hour)
}

// KeepRequest implements run.Keeper. The put has no condition and nothing else
// depends on it: a repeat overwrites it with the same.
func (s *settler) KeepRequest(ctx context.Context, to run.SentTo, r run.SentRequest) error {
	r.ExpiresTime = s.LastKept().UnixMilli()
	return s.PutSent(ctx, to, r)
}

// PutSent stores a request until its ExpiresTime, and counts it.
func (s *settler) PutSent(ctx context.Context, to run.SentTo, r run.SentRequest) error {
	item := sentItem{PK: keys.LogPK(to.LogID), SK: keys.SentSK(to.RunID, r.Place()), Expires: (r.ExpiresTime + 999) / 1000}
	var err error
	if item.Body, err = s.content.Pack(ctx, item.PK, sentBody{SentRequest: r, Run: to.RunID}, item.Expires); err == nil {
		err = s.DB.Put(ctx, item)
	}
	if err != nil {
		return fmt.Errorf("keep a request of run %s: %w", to.RunID, err)
	}
	s.slots.usage.CountKept(ctx, to.UserID, item.Stored(), time.UnixMilli(r.ExpiresTime))
	return nil
}

// SentRequests implements run.Store.
func (s *settler) SentRequests(ctx context.Context, q run.SentQuery) (run.SentPage, error) {
	h, err := s.sessions.Header(ctx, q.UserID, q.SessionID)
	if err != nil {
		return run.SentPage{}, err
	}
	out, size := run.SentPage{Requests: []run.SentRequest{}}, 0
	from, to := keys.SentSK(q.RunID, q.After)+"+", table.PrefixEnd(keys.SentPrefix(q.RunID)) // "+" sorts before digits
	err = s.visitSent(ctx, records.Range(keys.LogPK(h.Log), from, to, true), func(b *sentBody) (bool, error) {
		if n := len(out.Requests); n == q.Limit || n > 0 && size+b.size > session.PageBytes {
			out.Next = out.Requests[n-1].Place()
			return false, nil
		}
		size += b.size
		out.Requests = append(out.Requests, b.SentRequest)
		return true, nil
	})
	if err == nil && len(out.Requests) == 0 { // is there such a run?
		_, err = s.Run(ctx, q.Ref)
	}
	return out, s.sessions.NotFoundIfDeleted(ctx, h, err)
}

// EachSent visits all requests of a session's runs that are still kept, run by run.
func (s *reader) EachSent(ctx context.Context, h *sessions.Header, visit func(runID string, r run.SentRequest) error) error {
	q := records.Prefix(keys.LogPK(h.Log), keys.PrefixSent, true)
	return s.visitSent(ctx, q, func(b *sentBody) (bool, error) { return true, visit(b.Run, b.SentRequest) })
}

// sentAtOnce is how many requests are read at a time: as many large ones as fit in
// a page.
const sentAtOnce = 12

func (s *reader) visitSent(ctx context.Context, q table.Query, visit func(*sentBody) (bool, error)) error {
	q.Limit = sentAtOnce
	return s.DB.Pages(ctx, q, func(items []table.Item) (bool, error) {
		for _, attrs := range items {
			b, err := s.sent(ctx, attrs)
			if err != nil {
				return false, err
			}
			if b == nil {
				continue
			}
			if more, err := visit(b); err != nil || !more {
				return false, err
			}
		}
		return true, nil
	})
}

// sent decodes an item; nil if it has expired, or cannot be read.
func (s *reader) sent(ctx context.Context, attrs table.Item) (*sentBody, error) {
	var item sentItem
	err := table.Decode(attrs, &item)
	if err == nil && item.Expires*1000 <= s.Millis() {
		return nil, nil
	}
	var b sentBody
	if err == nil {
		err = s.content.Unpack(ctx, item.PK, item.Body, &b)
	}
	switch {
	case errors.Is(err, records.ErrChunksGone): // they expire before the item is deleted
		return nil, nil
	case errors.Is(err, table.ErrUnreadable):
		s.LeftOut(ctx, records.KeyOf(attrs), err)
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read a request to an agent: %w", err)
	}
	return &b, nil
}
