package tasks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// LinkItem is one A2A task in a session of the user's, or the owner of a task that
// the user began. The item and the reference to it in the session's log, by which
// the link is deleted with the session, take one write unit each.
type LinkItem struct {
	PK      string   `dynamodbav:"PK"`
	SK      string   `dynamodbav:"SK"`
	Owner   string   `dynamodbav:"o,omitempty"` // the task is among this user's; all else is empty
	Session string   `dynamodbav:"s,omitempty"`
	Agent   string   `dynamodbav:"a,omitempty"`
	Runs    []string `dynamodbav:"r,omitempty"`
	After   int64    `dynamodbav:"after,omitempty"`
	Created int64    `dynamodbav:"ct,omitempty"`
	// Cancelled is when the task was cancelled; 0 if it was not.
	Cancelled int64 `dynamodbav:"xt,omitempty"`
}

const linkRuns = "r"

// linkRef refers to a link of the user u, and to that of the guest gu who began the
// task.
type linkRef struct {
	PK    string `dynamodbav:"PK"`
	SK    string `dynamodbav:"SK"`
	User  string `dynamodbav:"u"`
	Guest string `dynamodbav:"gu,omitempty"`
}

// AddLink implements task.Links. The reference to the link is written first: if the
// link does not follow, it refers to nothing.
func (s *links) AddLink(ctx context.Context, l task.Link, beginner string) error {
	h, err := s.sessions.Header(ctx, l.UserID, l.SessionID)
	if err != nil {
		return err
	}
	at := keys.LinkPointer(h.Log, l.TaskID)
	ref := linkRef{PK: at.PK, SK: at.SK, User: l.UserID}
	if beginner != l.UserID {
		ref.Guest = beginner
	}
	if err := s.DB.Put(ctx, ref); err != nil {
		return fmt.Errorf("refer to A2A task %s: %w", l.TaskID, err)
	}
	if ref.Guest != "" {
		k := keys.LinkKey(ref.Guest, l.TaskID)
		if err := s.DB.Put(ctx, LinkItem{PK: k.PK, SK: k.SK, Owner: l.UserID}); err != nil {
			return fmt.Errorf("link A2A task %s for a guest: %w", l.TaskID, err)
		}
	}
	k := keys.LinkKey(l.UserID, l.TaskID)
	item := LinkItem{
		PK: k.PK, SK: k.SK, Session: l.SessionID, Agent: l.Agent, Runs: l.Runs, After: l.After, Created: l.CreatedTime,
	}
	if err := s.DB.Put(ctx, item); err != nil {
		return fmt.Errorf("link A2A task %s: %w", l.TaskID, err)
	}
	return nil
}

// ExtendLink implements task.Links.
func (s *links) ExtendLink(ctx context.Context, userID, taskID, runID string) error {
	runs := table.Path{linkRuns}
	err := s.DB.Update(ctx, keys.LinkKey(userID, taskID), []table.Change{table.Append(runs, runID)},
		table.ItemExists(), table.Not(table.Contains(runs, runID)))
	if errors.Is(err, table.ErrConditionFailed) { // deleted, or extended by an earlier attempt
		_, err = s.Link(ctx, userID, taskID)
	}
	if err != nil {
		return fmt.Errorf("extend A2A task %s: %w", taskID, err)
	}
	return nil
}

// CancelLink implements task.Links.
func (s *links) CancelLink(ctx context.Context, userID, taskID string, at int64) error {
	err := s.DB.Update(ctx, keys.LinkKey(userID, taskID), []table.Change{table.Set(table.Path{AttrCancelled}, at)},
		table.ItemExists())
	if errors.Is(err, table.ErrConditionFailed) {
		return MissingTask()
	}
	if err != nil {
		return fmt.Errorf("cancel A2A task %s: %w", taskID, err)
	}
	return nil
}

// Link implements task.Links.
func (s *links) Link(ctx context.Context, userID, taskID string) (task.Link, error) {
	var item LinkItem
	found, err := s.DB.Get(ctx, keys.LinkKey(userID, taskID), &item)
	if err != nil {
		return task.Link{}, fmt.Errorf("read A2A task %s: %w", taskID, err)
	}
	if !found {
		return task.Link{}, MissingTask()
	}
	if item.Owner != "" && item.Owner != userID {
		return s.Link(ctx, item.Owner, taskID)
	}
	return item.link(), nil
}

// UserLinks implements task.Links. About thirty links take one read unit; each link
// that a guest began in another user's session takes one more.
func (s *links) UserLinks(ctx context.Context, userID string) ([]task.Link, error) {
	var links []task.Link
	err := s.DB.Pages(ctx, records.Partition(keys.LinkPK(userID)), func(items []table.Item) (bool, error) {
		own, begun := s.readLinks(ctx, items)
		if len(begun) > 0 {
			items, err := s.DB.BatchGet(ctx, begun, true)
			if err != nil {
				return false, err
			}
			elsewhere, _ := s.readLinks(ctx, items)
			own = append(own, elsewhere...)
		}
		links = append(links, own...)
		return true, nil
	})
	if err != nil {
		return nil, fmt.Errorf("list A2A tasks: %w", err)
	}
	slices.SortFunc(links, func(a, b task.Link) int {
		return cmp.Or(cmp.Compare(b.CreatedTime, a.CreatedTime), cmp.Compare(b.TaskID, a.TaskID))
	})
	return links, nil
}

// readLinks returns the links among items, and the keys of the links that items
// refer to.
func (s *links) readLinks(ctx context.Context, items []table.Item) (links []task.Link, elsewhere []table.Key) {
	for _, item := range records.DecodeItems[LinkItem](ctx, s.Base, items) {
		if item.Owner != "" {
			elsewhere = append(elsewhere, keys.LinkKey(item.Owner, item.SK))
			continue
		}
		links = append(links, item.link())
	}
	return links, elsewhere
}

func (i LinkItem) link() task.Link {
	return task.Link{
		TaskID: i.SK, UserID: i.PK[len(keys.PrefixLink):], SessionID: i.Session, Agent: i.Agent, Runs: i.Runs, After: i.After,
		CreatedTime: i.Created, CancelledTime: i.Cancelled,
	}
}

// AttrCancelled is the attribute of a link that was cancelled.
const AttrCancelled = "xt" // of linkItem.Cancelled
