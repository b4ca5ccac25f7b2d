package dynamostore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/task"
)

var _ task.Links = (*Store)(nil)

// linkItem is one A2A task of a user. Both it and the reference to it, which
// stands in the session's log so that the link goes with the session, take one
// write unit.
type linkItem struct {
	PK      string   `dynamodbav:"PK"`
	SK      string   `dynamodbav:"SK"`
	Session string   `dynamodbav:"s"`
	Owner   string   `dynamodbav:"o,omitempty"` // of the session, where it is not the user
	Agent   string   `dynamodbav:"a"`
	Runs    []string `dynamodbav:"r,omitempty"`
	After   int64    `dynamodbav:"after"`
	Created int64    `dynamodbav:"ct"`
	// Cancelled is 0 unless the task was.
	Cancelled int64 `dynamodbav:"xt,omitempty"`
}

// linkRef refers to a link of the user u.
type linkRef struct {
	PK   string `dynamodbav:"PK"`
	SK   string `dynamodbav:"SK"`
	User string `dynamodbav:"u"`
}

// AddLink implements task.Links. The reference comes first: where the link did
// not follow it refers to nothing.
func (s *Store) AddLink(ctx context.Context, l task.Link) error {
	h, err := s.header(ctx, l.Owner(), l.SessionID)
	if err != nil {
		return err
	}
	ref, k := linkPointer(h.Log, l.TaskID), linkKey(l.UserID, l.TaskID)
	if err := s.put(ctx, linkRef{PK: ref.pk, SK: ref.sk, User: l.UserID}, condition{}, nil); err != nil {
		return fmt.Errorf("refer to A2A task %s: %w", l.TaskID, err)
	}
	item := linkItem{
		PK: k.pk, SK: k.sk, Session: l.SessionID, Owner: l.OwnerID, Agent: l.Agent, Runs: l.Runs, After: l.After, Created: l.CreatedTime,
	}
	if err := s.put(ctx, item, condition{}, nil); err != nil {
		return fmt.Errorf("link A2A task %s: %w", l.TaskID, err)
	}
	return nil
}

// ExtendLink implements task.Links.
func (s *Store) ExtendLink(ctx context.Context, userID, taskID, runID string) error {
	err := s.update(ctx, linkKey(userID, taskID), "SET #r = list_append(#r, :r)", condition{
		expression: "attribute_exists(PK) AND NOT contains(#r, :id)",
		names:      map[string]string{"#r": "r"},
		values: attributes{
			":r": &types.AttributeValueMemberL{Value: []types.AttributeValue{str(runID)}}, ":id": str(runID),
		},
	})
	if errors.Is(err, errTaken) { // gone, or extended by an earlier try
		_, err = s.Link(ctx, userID, taskID)
	}
	if err != nil {
		return fmt.Errorf("extend A2A task %s: %w", taskID, err)
	}
	return nil
}

// CancelLink implements task.Links.
func (s *Store) CancelLink(ctx context.Context, userID, taskID string, at int64) error {
	err := s.update(ctx, linkKey(userID, taskID), "SET #xt = :xt", condition{
		expression: "attribute_exists(PK)",
		names:      map[string]string{"#xt": "xt"},
		values:     attributes{":xt": num(at)},
	})
	if errors.Is(err, errTaken) {
		return missingTask()
	}
	if err != nil {
		return fmt.Errorf("cancel A2A task %s: %w", taskID, err)
	}
	return nil
}

// Link implements task.Links.
func (s *Store) Link(ctx context.Context, userID, taskID string) (task.Link, error) {
	var item linkItem
	found, err := s.get(ctx, linkKey(userID, taskID), &item)
	if err != nil {
		return task.Link{}, fmt.Errorf("read A2A task %s: %w", taskID, err)
	}
	if !found {
		return task.Link{}, missingTask()
	}
	return item.link(userID), nil
}

// UserLinks implements task.Links. Thirty links or so take one read unit.
func (s *Store) UserLinks(ctx context.Context, userID string) ([]task.Link, error) {
	var links []task.Link
	err := s.queryPages(ctx, s.partition(linkPK(userID)), func(items []attributes) (bool, error) {
		for _, attrs := range items {
			var item linkItem
			if err := attributevalue.UnmarshalMap(attrs, &item); err != nil {
				return false, fmt.Errorf("unmarshal a link: %w", err)
			}
			links = append(links, item.link(userID))
		}
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

func (i linkItem) link(userID string) task.Link {
	return task.Link{
		TaskID: i.SK, UserID: userID, OwnerID: i.Owner, SessionID: i.Session, Agent: i.Agent, Runs: i.Runs, After: i.After,
		CreatedTime: i.Created, CancelledTime: i.Cancelled,
	}
}
