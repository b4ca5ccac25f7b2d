package runs

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/rest"
)

// Limits of one push of an external agent.
const (
	maxDeltas = 500
	maxPush   = 64 << 10 // bytes of text

	modelRole = "model"
)

// push is a request with deltas for an item of an external run.
type push struct {
	itemID       string
	author, role string // of a new item
	deltas       []content.Delta
	// offset is the last delta that the agent knows to be stored; nil skips the
	// check.
	offset *int64
}

// pushed reports how far an item has been stored.
type pushed struct {
	ItemID string `json:"item_id"`
	Seq    int64  `json:"seq"`
	Offset int64  `json:"offset"`
}

// pushDeltas stores deltas of an item; the first ones create it.
func (a *api) pushDeltas(c *rest.Call) (*rest.Reply, error) {
	p, err := pushOf(c)
	if err != nil {
		return nil, err
	}
	ref, err := runRef(c)
	if err != nil {
		return nil, err
	}
	item, begun, err := a.openPush(c.Context(), ref, p)
	if err != nil {
		return nil, err
	}
	if item == nil {
		if item, err = a.Runs.BeginItem(c.Context(), ref, begun); err != nil {
			return nil, err
		}
	}
	if p.offset != nil {
		err = item.FlushAt(c.Context(), *p.offset, p.deltas)
	} else {
		_, err = item.Flush(c.Context(), p.deltas)
	}
	if err != nil {
		return nil, err
	}
	stored := pushed{ItemID: item.ID(), Seq: item.Seq(), Offset: item.Offset()}
	a.Runs.KeepPush(item)
	return rest.JSON(http.StatusOK, rest.Data{Data: stored})
}

// openPush returns the item of a push, or for a new one the event that begins it. The
// item may have been kept since the process's last push, so that deltas that disagree
// with it are checked again with what is stored.
func (a *api) openPush(ctx context.Context, ref run.Ref, p push) (item run.Item, begun session.Event, err error) {
	for again := p.offset == nil; ; again = false {
		var of run.Run
		of, item, err = a.Runs.OpenPush(ctx, ref, p.itemID, p.offset)
		if err == nil {
			err = pushable(of)
		}
		if err != nil {
			return nil, begun, err
		}
		if begun, err = p.check(of, item); err == nil || item == nil || !again {
			return item, begun, err
		}
	}
}

// pushOf reads the body of a push.
func pushOf(c *rest.Call) (p push, err error) {
	body, err := c.Object()
	if err != nil {
		return p, err
	}
	if p.itemID, err = body.RequiredText("item_id"); err != nil {
		return p, err
	}
	if err := ids.CheckNew("/item_id", p.itemID); err != nil {
		return p, err
	}
	if p.author, err = nameOf(body, "author"); err != nil {
		return p, err
	}
	if p.role, err = nameOf(body, "role"); err != nil {
		return p, err
	}
	if p.offset, err = body.Integer("offset"); err != nil {
		return p, err
	}
	if p.offset != nil && *p.offset < 0 {
		return p, rest.FieldFault(fault.Invalid, "/offset", "must not be negative")
	}
	items, err := itemsOf(body, "deltas", maxDeltas, "deltas")
	if err != nil {
		return p, err
	}
	p.deltas, err = parseDeltas(items)
	return p, err
}

func parseDeltas(items []json.RawMessage) ([]content.Delta, error) {
	deltas := make([]content.Delta, len(items))
	size := 0
	for i, raw := range items {
		var err error
		if deltas[i], err = content.ParseDelta(raw, deltaAt(i)); err != nil {
			return nil, err
		}
		size += deltas[i].Size()
	}
	if size > maxPush {
		return nil, fault.New(fault.BodyTooLarge, "the deltas hold %d bytes of text, and one request at most %d", size, maxPush)
	}
	return deltas, nil
}

func deltaAt(i int) string { return "/deltas/" + strconv.Itoa(i) }

// nameOf reads an optional author or role, "" if absent.
func nameOf(o rest.Object, member string) (string, error) {
	s, err := o.Text(member)
	if err != nil || !o.Has(member) {
		return "", err
	}
	if n := utf8.RuneCountInString(s); n == 0 || n > session.MaxAuthor {
		return "", rest.FieldFault(fault.Invalid, o.Pointer(member), "must be 1 to %d characters", session.MaxAuthor)
	}
	return s, nil
}

// check verifies that the deltas continue the item's. It returns the event that
// begins a new item; item is nil for a new one.
func (p push) check(of run.Run, item run.Item) (begun session.Event, err error) {
	if err := p.checkOffset(item); err != nil {
		return begun, err
	}
	draft := content.NewDraft("")
	if item != nil {
		if draft, err = content.ResumeDraft(item.Content().Snapshot()); err != nil {
			return begun, err
		}
	} else if begun, err = p.openingEvent(of); err != nil {
		return begun, err
	}
	for i, d := range p.deltas {
		if err := draft.Append(d, deltaAt(i)); err != nil {
			return begun, err
		}
	}
	if draft.Size() > run.MaxItem {
		return begun, fault.New(fault.ItemTooLarge, "the item would hold more than %d bytes of text", run.MaxItem)
	}
	return begun, nil
}

// openingEvent returns the event that begins an item.
func (p push) openingEvent(of run.Run) (session.Event, error) {
	author, role := p.author, p.role
	if author == "" {
		author = of.Agent
	}
	if author == "" {
		return session.Event{}, rest.Malformed("/author", "is required: the run names no agent")
	}
	if role == "" {
		role = modelRole
	}
	return session.Event{
		ID: p.itemID, InvocationID: of.ID, Author: author,
		Fields: map[string]json.RawMessage{"content": content.NewDraft(role).Snapshot()},
	}, nil
}

// checkOffset refuses deltas that are possibly a repeat, and deltas that would
// leave a gap.
func (p push) checkOffset(item run.Item) error {
	switch {
	case p.offset == nil:
		return nil
	case item == nil && *p.offset > 0:
		return fault.New(fault.ItemNotInProgress, "item %q is not in progress", p.itemID).With("item_id", p.itemID)
	case item != nil && *p.offset != item.Offset():
		return fault.New(fault.OffsetConflict, "item %q has the deltas 1 to %d", p.itemID, item.Offset()).
			With("item_id", p.itemID).With("offset", item.Offset())
	}
	return nil
}
