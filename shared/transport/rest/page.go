package rest

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/cursor"
)

// Pages reads and writes the positions of a list.
type Pages struct {
	list   cursor.List
	URL    *url.URL
	Limit  int
	cursor string
}

// PlainPages is Pages for a list without other parameters.
func (c *Call) PlainPages(absent int64, selects ...string) (Pages, error) {
	q, err := c.Query()
	if err != nil {
		return Pages{}, err
	}
	return c.Pages(q, absent, selects...)
}

// Pages reads limit and cursor; selects names the list and its filters, and
// absent is the default limit.
func (c *Call) Pages(q Query, absent int64, selects ...string) (Pages, error) {
	limit, err := q.Integer("limit", 1, session.MaxPage, absent)
	if err != nil {
		return Pages{}, err
	}
	given, err := q.Text("cursor", cursor.MaxLen)
	if err != nil {
		return Pages{}, err
	}
	if given == "" && q.Values.Has("cursor") {
		return Pages{}, cursor.Malformed()
	}
	list := append(cursor.List{c.Caller.UserID}, selects...)
	return Pages{list: list, URL: c.URL, Limit: int(limit), cursor: given}, nil
}

// Resume decodes the cursor into position, which stays unchanged without a
// cursor.
func (p Pages) Resume(position any) error { return p.list.Decode(p.cursor, position) }

// After is resume for stores whose position is a string.
func (p Pages) After() (string, error) { return p.list.DecodeText(p.cursor) }

// Resumed is resume for lists of a log.
func (p Pages) Resumed() (session.Resume, error) { return p.list.DecodeLog(p.cursor) }

// Next returns the cursor of a position.
func (p Pages) Next(position any) (*string, error) {
	next, err := p.list.Encode(position)
	return &next, err
}

// NextInLog is next for lists of a log, nil at the end.
func (p Pages) NextInLog(position *session.Resume) (*string, error) {
	if position == nil {
		return nil, nil
	}
	next, err := p.list.EncodeLog(*position)
	return &next, err
}

// NextSeq is next for lists whose position is an event's, 0 at the end.
func (p Pages) NextSeq(seq int64) (*string, error) {
	if seq == 0 {
		return nil, nil
	}
	return p.NextInLog(&session.Resume{Seq: seq})
}

// NextAfter is next for stores whose position is a string, nil at the end.
func (p Pages) NextAfter(position string) (*string, error) {
	if position == "" {
		return nil, nil
	}
	return p.Next(position)
}

// Link adds the Link header of the next page, if any.
func (p Pages) Link(h http.Header, next *string) {
	if next == nil {
		return
	}
	values := p.URL.Query()
	values.Set("cursor", *next)
	// Gateways may split headers at commas.
	path := strings.ReplaceAll(p.URL.EscapedPath(), ",", "%2C")
	h.Set("Link", fmt.Sprintf("<%s?%s>; rel=%q", path, values.Encode(), "next"))
}

// ListReply is a page in the format of sessions and events.
func (p Pages) ListReply(items any, next *string) (*Reply, error) {
	rep, err := JSON(http.StatusOK, List{Data: items, Meta: Meta{NextCursor: next}})
	if err != nil {
		return nil, err
	}
	p.Link(rep.Header, next)
	return rep, nil
}
