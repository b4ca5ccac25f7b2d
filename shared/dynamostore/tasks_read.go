package dynamostore

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"github.com/rethread/rethread/shared/session"
	"github.com/rethread/rethread/shared/task"
)

// Tasks implements task.Store. Tasks change in place, so they are read
// strongly consistent.
func (s *Store) Tasks(ctx context.Context, q task.Query) (task.Page, error) {
	h, err := s.header(ctx, q.UserID, q.SessionID)
	if err != nil {
		return task.Page{}, err
	}
	in := s.prefixQuery(logPK(h.Log), prefixTask, true)
	if q.After != "" {
		in.KeyConditionExpression = aws.String("PK = :pk AND SK BETWEEN :prefix AND :to")
		in.ExpressionAttributeValues[":prefix"] = str(q.After + "\x00") // the next key there can be
		in.ExpressionAttributeValues[":to"] = str(prefixTask + "~")
	}
	if q.Limit > 0 {
		in.Limit = ptr(int32(q.Limit + 1)) //nolint:gosec // at most session.MaxPage
	}
	var page task.Page
	bytes, last := 0, ""
	err = s.queryPages(ctx, in, func(items []attributes) (bool, error) {
		for _, attrs := range items {
			var item taskItem
			if err := attributevalue.UnmarshalMap(attrs, &item); err != nil {
				return false, fmt.Errorf("unmarshal a task: %w", err)
			}
			t, err := s.decodeTask(ctx, h, &item)
			if err != nil {
				return false, err
			}
			bytes += t.Size()
			if n := len(page.Tasks); n > 0 && (n == q.Limit || bytes > session.PageBytes) {
				page.Next = last
				return false, nil
			}
			page.Tasks, last = append(page.Tasks, t), item.SK
		}
		return true, nil
	})
	if err != nil {
		return task.Page{}, fmt.Errorf("read tasks of session %s: %w", q.SessionID, err)
	}
	return page, nil
}

func (s *Store) decodeTask(ctx context.Context, h *header, item *taskItem) (task.Task, error) {
	_, id, err := taskOf(item.SK)
	if err != nil {
		return task.Task{}, err
	}
	var content taskBody
	if err := s.unpack(ctx, item.PK, item.body, &content); err != nil {
		return task.Task{}, fmt.Errorf("task %s: %w", id, err)
	}
	return content.task(h.id(), id, item), nil
}

// Task implements task.Store.
func (s *Store) Task(ctx context.Context, userID, sessionID, taskID string) (task.Task, error) {
	h, err := s.header(ctx, userID, sessionID)
	if err != nil {
		return task.Task{}, err
	}
	_, item, err := s.findTask(ctx, h, taskID)
	if err != nil {
		return task.Task{}, err
	}
	return s.decodeTask(ctx, h, item)
}

// findTask reads a task's pointer and item.
func (s *Store) findTask(ctx context.Context, h *header, taskID string) (*taskPointer, *taskItem, error) {
	for try := 0; ; try++ {
		var p taskPointer
		found, err := s.get(ctx, taskPointerKey(h.Log, taskID), &p)
		if err != nil {
			return nil, nil, err
		}
		if !found {
			return nil, nil, missingTask()
		}
		var item taskItem
		if found, err = s.get(ctx, p.taskKey(), &item); err != nil {
			return nil, nil, err
		}
		if found {
			return &p, &item, nil
		}
		// The task moved between the two reads, or its first save has not
		// come as far.
		if try == 3 {
			return nil, nil, missingTask()
		}
		if err := backoff(ctx, try); err != nil {
			return nil, nil, err
		}
	}
}

// DeleteTask implements task.Store. The task's place stays in the log.
func (s *Store) DeleteTask(ctx context.Context, userID, sessionID, taskID string) error {
	h, err := s.header(ctx, userID, sessionID)
	if err != nil {
		return err
	}
	newest := s.watchNewest(ctx, h)
	for try := 0; ; try++ {
		p, item, err := s.findTask(ctx, h, taskID)
		if err != nil {
			return err
		}
		unmoved := condition{
			expression: "#p = :p",
			names:      map[string]string{"#p": "p"},
			values:     attributes{":p": num(p.Place)},
		}
		err = s.transact(ctx,
			s.transactDelete(key{p.PK, p.SK}, unmoved), s.transactDelete(p.taskKey(), condition{}))
		if err == nil {
			s.moveUp(ctx, h, newest, s.millis(), true)
			if err := s.discard(ctx, item.PK, item.body); err != nil {
				s.log.WarnContext(ctx, "chunks of a deleted task stay until the session goes", "error", err)
			}
			return nil
		}
		if !errors.Is(err, errTaken) {
			return fmt.Errorf("delete task %s: %w", taskID, err)
		}
		if err := backoff(ctx, try); err != nil {
			return err
		}
	}
}
