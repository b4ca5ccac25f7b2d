package rest

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
)

const (
	maxCursor   = 4096 // characters
	checksumLen = 9
)

// pages reads and writes the positions of a list. A cursor is the store's
// position with a checksum over it and over the list's selection, so a modified
// cursor, or one of another list or user, is refused.
type pages struct {
	selects []string
	url     *url.URL
	limit   int
	cursor  string
}

// pages reads limit and cursor; selects names the list and its filters, and
// absent is the default limit.
func (c *call) pages(q query, absent int64, selects ...string) (pages, error) {
	limit, err := q.integer("limit", 1, session.MaxPage, absent)
	if err != nil {
		return pages{}, err
	}
	cursor, err := q.text("cursor", maxCursor)
	if err != nil {
		return pages{}, err
	}
	if cursor == "" && q.values.Has("cursor") {
		return pages{}, badCursor()
	}
	return pages{selects: append([]string{c.caller.UserID}, selects...), url: c.URL, limit: int(limit), cursor: cursor}, nil
}

func badCursor() error {
	return fault.Field(fault.Malformed, "cursor", "is not a cursor of this list")
}

// resume decodes the cursor into position, which stays unchanged without a
// cursor.
func (p pages) resume(position any) error {
	if p.cursor == "" {
		return nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(p.cursor)
	if err != nil || len(raw) < checksumLen {
		return badCursor()
	}
	sum, encoded := raw[:checksumLen], raw[checksumLen:]
	want, err := p.checksum(encoded)
	if err != nil {
		return err
	}
	if string(sum) != string(want) || !decodePosition(encoded, position) {
		return badCursor()
	}
	return nil
}

// next returns the cursor of a position.
func (p pages) next(position any) (*string, error) {
	encoded, err := json.Marshal(position)
	if err != nil {
		return nil, fmt.Errorf("encode a cursor: %w", err)
	}
	sum, err := p.checksum(encoded)
	if err != nil {
		return nil, err
	}
	cursor := base64.RawURLEncoding.EncodeToString(append(sum, encoded...))
	return &cursor, nil
}

func (p pages) checksum(encoded []byte) ([]byte, error) {
	selects, err := json.Marshal(p.selects)
	if err != nil {
		return nil, fmt.Errorf("encode what a list selects: %w", err)
	}
	sum := sha256.Sum256(append(selects, encoded...))
	return sum[:checksumLen], nil
}

// decodePosition decodes a position that is written exactly as next writes it.
// The checksum is not secret, so anyone can forge a cursor.
func decodePosition(encoded []byte, position any) bool {
	if json.Unmarshal(encoded, position) != nil {
		return false
	}
	again, err := json.Marshal(position)
	return err == nil && bytes.Equal(again, encoded)
}

// maxPosition bounds a position, in bytes: what a table accepts as the start of
// a page, less the stores' prefixes.
const maxPosition = 900

// after is resume for stores whose position is a string.
func (p pages) after() (position string, err error) {
	if err = p.resume(&position); err != nil || p.cursor == "" {
		return "", err
	}
	if position == "" || len(position) > maxPosition || !utf8.ValidString(position) {
		return "", badCursor()
	}
	return position, nil
}

// resumed is resume for lists of a log.
func (p pages) resumed() (session.Resume, error) {
	var from resume
	if err := p.resume(&from); err != nil || p.cursor == "" {
		return session.Resume{}, err
	}
	if from.Seq < 1 || from.Seq > jsonx.MaxInteger || from.Epoch < 0 || from.Epoch > jsonx.MaxInteger {
		return session.Resume{}, badCursor()
	}
	return session.Resume(from), nil
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
