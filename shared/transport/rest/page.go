package rest

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/cursor"
)

// pages reads and writes the positions of a list.
type pages struct {
	list   cursor.List
	url    *url.URL
	limit  int
	cursor string
}

// pages reads limit and cursor; selects names the list and its filters, and
// absent is the default limit.
func (c *call) pages(q query, absent int64, selects ...string) (pages, error) {
	limit, err := q.integer("limit", 1, session.MaxPage, absent)
	if err != nil {
		return pages{}, err
	}
	given, err := q.text("cursor", cursor.MaxLen)
	if err != nil {
		return pages{}, err
	}
	if given == "" && q.values.Has("cursor") {
		return pages{}, cursor.Malformed()
	}
	list := append(cursor.List{c.caller.UserID}, selects...)
	return pages{list: list, url: c.URL, limit: int(limit), cursor: given}, nil
}

// resume decodes the cursor into position, which stays unchanged without a
// cursor.
func (p pages) resume(position any) error { return p.list.Decode(p.cursor, position) }

// after is resume for stores whose position is a string.
func (p pages) after() (string, error) { return p.list.DecodeText(p.cursor) }

// resumed is resume for lists of a log.
func (p pages) resumed() (session.Resume, error) { return p.list.DecodeLog(p.cursor) }

// next returns the cursor of a position.
func (p pages) next(position any) (*string, error) {
	next, err := p.list.Encode(position)
	return &next, err
}

// nextInLog is next for lists of a log, nil at the end.
func (p pages) nextInLog(position *session.Resume) (*string, error) {
	if position == nil {
		return nil, nil
	}
	next, err := p.list.EncodeLog(*position)
	return &next, err
}

// nextAfter is next for stores whose position is a string, nil at the end.
func (p pages) nextAfter(position string) (*string, error) {
	if position == "" {
		return nil, nil
	}
	return p.next(position)
}

// link adds the Link header of the next page, if any.
func (p pages) link(h http.Header, next *string) {
	if next == nil {
		return
	}
	values := p.url.Query()
	values.Set("cursor", *next)
	// Gateways may split headers at commas.
	path := strings.ReplaceAll(p.url.EscapedPath(), ",", "%2C")
	h.Set("Link", fmt.Sprintf("<%s?%s>; rel=%q", path, values.Encode(), "next"))
}

// listReply is a page in the format of sessions and events.
func (p pages) listReply(items any, next *string) (*reply, error) {
	rep, err := jsonReply(http.StatusOK, list{Data: items, Meta: meta{NextCursor: next}})
	if err != nil {
		return nil, err
	}
	p.link(rep.header, next)
	return rep, nil
}
