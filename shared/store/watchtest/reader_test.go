package watchtest_test

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
)

// reader acts like a page with EventSource: it applies events in order of arrival,
// without rules.
type reader struct {
	status string
	items  []readItem
	from   string          // cursor of the address
	last   string          // id of the last event
	seen   map[string]bool // events
	ahead  map[string]bool // events that were further on than the id with which they came
}

// readItem is an item as shown.
type readItem struct {
	ID, Status string
	Seq        int64
	Parts      []string // texts
}

func newReader() *reader {
	return &reader{from: "0.0.0", seen: map[string]bool{}, ahead: map[string]bool{}}
}

// readerOf returns a reader of a thread.
func readerOf(pages [][]byte) (*reader, error) {
	r := newReader()
	for _, page := range pages {
		var answer struct {
			Data struct {
				Status, Cursor string
				Items          []json.RawMessage
			}
		}
		if err := json.Unmarshal(page, &answer); err != nil {
			return nil, err
		}
		r.status, r.from = answer.Data.Status, answer.Data.Cursor
		for _, raw := range answer.Data.Items {
			item, err := shownItem(raw)
			if err != nil {
				return nil, err
			}
			r.items = append(r.items, item)
		}
	}
	return r, nil
}

func shownItem(raw json.RawMessage) (readItem, error) {
	var e struct {
		ID, Status string
		Seq        int64
		Content    struct{ Parts []struct{ Text string } }
	}
	err := json.Unmarshal(raw, &e)
	item := readItem{ID: e.ID, Status: e.Status, Seq: e.Seq}
	for _, p := range e.Content.Parts {
		item.Parts = append(item.Parts, p.Text)
	}
	return item, err
}

// position returns where the reader continues.
func (r *reader) position() string {
	if r.last != "" {
		return r.last
	}
	return r.from
}

// grows reports whether the reader has an item in progress at a position.
func (r *reader) grows(seq int64) bool {
	return slices.ContainsFunc(r.items, func(i readItem) bool {
		return i.Seq == seq && i.Status == string(session.EventInProgress)
	})
}

// empty reports whether the reader has an item without content at a position. The
// end of one that was streamed without a delta has the cursor of its beginning.
func (r *reader) empty(seq int64) bool {
	return slices.ContainsFunc(r.items, func(i readItem) bool { return i.Seq == seq && len(i.Parts) == 0 })
}

// take applies an event, and reports whether it was a repetition that changes
// nothing.
func (r *reader) take(id string, text []byte) (repeated bool, err error) {
	var m struct {
		Type, Cursor, Status, Subscription string
		ItemID                             string `json:"item_id"`
		Item                               json.RawMessage
		ToSeq                              int64 `json:"to_seq"`
		Delta                              struct {
			Part int
			Text string
		}
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return false, err
	}
	before, items := r.status, copyOf(r.items)
	switch r.last = id; m.Type {
	case "thread.status":
		if m.Status != "" {
			r.status = m.Status
		}
	case "item.snapshot":
		item, err := shownItem(m.Item)
		if err != nil {
			return false, err
		}
		r.cut(item.Seq)
		r.items = append(r.items, item)
	case "item.completed", "item.failed", "item.delta":
		i := slices.IndexFunc(r.items, func(i readItem) bool { return i.ID == m.ItemID })
		if i < 0 {
			return false, fmt.Errorf("a message about an unknown item: %.300s", text) //nolint:err113 // a test shows it
		}
		if m.Type != "item.delta" {
			r.items[i], err = shownItem(m.Item)
			break
		}
		if parts := &r.items[i].Parts; m.Delta.Part == len(*parts) {
			*parts = append(*parts, m.Delta.Text)
		} else {
			(*parts)[m.Delta.Part] += m.Delta.Text
		}
	case "thread.rewound":
		r.cut(m.ToSeq + 1)
	case "thread.reload":
	default:
		return false, fmt.Errorf("unexpected: %.300s", text) //nolint:err113 // a test shows it
	}
	// A status in a replay may lack what the live one has, which may follow.
	key := m.Type + " " + m.Cursor + " " + m.Status
	live := key + " live"
	seen := r.seen[live] || m.Subscription != "" && r.seen[key]
	r.seen[key], r.seen[live] = true, r.seen[live] || m.Subscription == ""
	return seen && before == r.status && cmp.Equal(items, r.items), err
}

// aheadOf reports whether an event had come with an id that did not reach it, and keeps
// whether that is so now.
func (r *reader) aheadOf(id watch.Cursor, text []byte) (before bool, err error) {
	var m struct{ Type, Cursor, Status string }
	if err := json.Unmarshal(text, &m); err != nil || m.Cursor == "" {
		return false, err
	}
	at, err := watch.ParseCursor(m.Cursor)
	if err != nil {
		return false, err
	}
	key := m.Type + " " + m.Cursor + " " + m.Status
	before = r.ahead[key]
	r.ahead[key] = id.Epoch == at.Epoch && id.Seq < at.Seq
	return before, nil
}

// cut drops the item at a position and all later ones.
func (r *reader) cut(seq int64) {
	r.items = slices.DeleteFunc(r.items, func(i readItem) bool { return i.Seq >= seq })
}

func copyOf(items []readItem) []readItem {
	out := slices.Clone(items)
	for i := range out {
		out[i].Parts = slices.Clone(out[i].Parts)
	}
	return out
}

// differs compares the content of two readers.
func (r *reader) differs(o *reader) string {
	return cmp.Diff(r.status, o.status) + cmp.Diff(r.items, o.items, cmpopts.EquateEmpty())
}
