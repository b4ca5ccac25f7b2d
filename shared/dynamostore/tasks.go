package dynamostore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/fault"
	"github.com/rethread/rethread/shared/session"
	"github.com/rethread/rethread/shared/task"
)

// taskPointer says where in the log a task stands. It is written before the
// task.
type taskPointer struct {
	PK      string `dynamodbav:"PK"`
	SK      string `dynamodbav:"SK"`
	User    string `dynamodbav:"u"`
	Session string `dynamodbav:"s"`
	Place   int64  `dynamodbav:"p"` // position of the task's first known invocation
	Created int64  `dynamodbav:"ct"`
	// Known are the task's invocations that have a place in the log.
	Known []string `dynamodbav:"i,stringset,omitempty"`
	First string   `dynamodbav:"f"` // the invocation that Place belongs to
	GPK   string   `dynamodbav:"GPK"`
	GSK   string   `dynamodbav:"GSK"`
}

func (p *taskPointer) id() string { return p.SK[len(prefixTaskPointer):] }

func (p *taskPointer) log() string { return p.PK[len(prefixLog):] }

func (p *taskPointer) taskKey() key { return taskKey(p.log(), p.Place, p.id()) }

// taskItem is the task itself, ordered by its place.
type taskItem struct {
	PK      string `dynamodbav:"PK"`
	SK      string `dynamodbav:"SK"`
	Version int64  `dynamodbav:"v"`
	Created int64  `dynamodbav:"ct"`
	Updated int64  `dynamodbav:"ut"`
	body
}

type taskBody struct {
	UserMessage json.RawMessage `json:"um,omitempty"`
	Bubbles     json.RawMessage `json:"mb"`
	Metadata    json.RawMessage `json:"md,omitempty"`
}

// Save implements task.Store.
func (s *Store) Save(ctx context.Context, t task.Save) (task.Task, bool, error) {
	h, err := s.header(ctx, t.UserID, t.SessionID)
	if err != nil {
		return task.Task{}, false, err
	}
	newest := s.watchNewest(ctx, h)
	for try := 0; ; try++ {
		saved, created, err := s.save(ctx, h, t)
		if err == nil {
			s.moveUp(ctx, h, newest, saved.UpdatedTime, true)
			return saved, created, nil
		}
		if !errors.Is(err, errTaken) {
			return task.Task{}, false, fmt.Errorf("save task %s: %w", t.Task.ID, err)
		}
		if err := backoff(ctx, try); err != nil {
			return task.Task{}, false, err
		}
	}
}

// save is one try; errTaken where another save of the same task came between.
func (s *Store) save(ctx context.Context, h *header, t task.Save) (task.Task, bool, error) {
	var p taskPointer
	found, err := s.get(ctx, taskPointerKey(h.Log, t.Task.ID), &p)
	if err != nil {
		return task.Task{}, false, err
	}
	if !found {
		return s.createTask(ctx, h, t)
	}
	if moved, err := s.place(ctx, h, t, &p); err != nil || moved {
		if err == nil {
			err = errTaken // the task stands elsewhere now: read the pointer again
		}
		return task.Task{}, false, err
	}
	return s.updateTask(ctx, h, t, &p)
}

func (s *Store) createTask(ctx context.Context, h *header, t task.Save) (task.Task, bool, error) {
	now := s.millis()
	k := taskPointerKey(h.Log, t.Task.ID)
	p := taskPointer{
		PK: k.pk, SK: k.sk, User: h.User, Session: h.id(), Created: now,
		GPK: taskIndexPK(h.User, t.Task.ID), GSK: activitySK(now, h.id()),
	}
	invocations := t.Invocations
	if len(invocations) == 0 {
		invocations = []string{t.Task.ID}
	}
	var err error
	if p.Place, err = s.takePlaces(ctx, h, t.Task.ID, invocations); err != nil {
		return task.Task{}, false, err
	}
	p.Known, p.First = invocations, invocations[0]
	if err := s.put(ctx, p, condition{expression: ifAbsent}, nil); err != nil {
		return task.Task{}, false, err
	}
	return s.updateTask(ctx, h, t, &p)
}

// place gives the invocations that a save names for the first time their
// places in the log, and moves the task where its first invocation is another
// now. It reports whether it moved.
func (s *Store) place(ctx context.Context, h *header, t task.Save, p *taskPointer) (bool, error) {
	fresh := slices.DeleteFunc(slices.Clone(t.Invocations), func(id string) bool {
		return slices.Contains(p.Known, id)
	})
	if len(fresh) == 0 && (len(t.Invocations) == 0 || t.Invocations[0] == p.First) {
		return false, nil
	}
	if _, err := s.takePlaces(ctx, h, t.Task.ID, fresh); err != nil {
		return false, err
	}
	place, err := s.invocationPosition(ctx, h.Log, t.Invocations[0])
	if err != nil {
		return false, err
	}
	return true, s.moveTask(ctx, p, place, t.Invocations)
}

// moveTask changes the pointer and, with it, where the task is kept.
func (s *Store) moveTask(ctx context.Context, p *taskPointer, place int64, invocations []string) error {
	next := *p
	next.Place, next.First = place, invocations[0]
	next.Known = slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(p.Known), invocations...))))
	unmoved := condition{
		expression: "#p = :p AND #f = :f",
		names:      map[string]string{"#p": "p", "#f": "f"},
		values:     attributes{":p": num(p.Place), ":f": str(p.First)},
	}
	put, err := s.transactPut(next, unmoved)
	if err != nil {
		return err
	}
	writes := []types.TransactWriteItem{put}
	var item taskItem
	found, err := s.get(ctx, p.taskKey(), &item)
	if err != nil {
		return err
	}
	if found && place != p.Place {
		version := condition{
			expression: "#v = :v",
			names:      map[string]string{"#v": "v"},
			values:     attributes{":v": num(item.Version)},
		}
		writes = append(writes, s.transactDelete(p.taskKey(), version))
		item.SK = next.taskKey().sk
		if put, err = s.transactPut(item, condition{}); err != nil {
			return err
		}
		writes = append(writes, put)
	}
	return s.transact(ctx, writes...)
}

// takePlaces gives every invocation without an entry in the log one, and
// returns the position of the first.
func (s *Store) takePlaces(ctx context.Context, h *header, taskID string, invocations []string) (int64, error) {
	if len(invocations) == 0 {
		return 0, nil
	}
	var first int64
	var entries []session.Event
	for i, id := range invocations {
		position, err := s.invocationPosition(ctx, h.Log, id)
		if err != nil {
			return 0, err
		}
		if i == 0 {
			first = position
		}
		if position == 0 {
			entries = append(entries, session.Event{InvocationID: id, Author: "system"})
		}
	}
	for batch := range slices.Chunk(entries, session.MaxBatch) {
		w := s.newWriter(h, batch)
		w.task = taskID
		if _, err := w.run(ctx); err != nil {
			return 0, err
		}
	}
	if first == 0 { // another save of the task may have been faster: ask the log
		return s.invocationPosition(ctx, h.Log, invocations[0])
	}
	return first, nil
}

// updateTask writes the task at its place. Whoever writes it there first has
// created it.
func (s *Store) updateTask(
	ctx context.Context, h *header, t task.Save, p *taskPointer,
) (saved task.Task, created bool, err error) {
	var old taskItem
	found, err := s.get(ctx, p.taskKey(), &old)
	if err != nil {
		return task.Task{}, false, err
	}
	content := taskBody{UserMessage: t.Task.UserMessage, Bubbles: t.Task.Bubbles, Metadata: t.Task.Metadata}
	if found && (content.UserMessage == nil || content.Metadata == nil) {
		var kept taskBody
		if err := s.unpack(ctx, p.PK, old.body, &kept); err != nil {
			return task.Task{}, false, err
		}
		if content.UserMessage == nil {
			content.UserMessage = kept.UserMessage
		}
		if content.Metadata == nil {
			content.Metadata = kept.Metadata
		}
	}
	next := taskItem{
		PK: p.PK, SK: p.taskKey().sk, Version: old.Version + 1,
		Created: p.Created, Updated: p.Created,
	}
	if found {
		next.Updated = max(s.millis(), old.Updated)
	}
	if err := s.putTask(ctx, p, &old, found, &next, content); err != nil {
		return task.Task{}, false, err
	}
	return content.task(h.id(), p.id(), &next), !found, nil
}

// putTask replaces one version of a task by the next.
func (s *Store) putTask(
	ctx context.Context, p *taskPointer, old *taskItem, found bool, next *taskItem, content taskBody,
) (err error) {
	if next.body, err = s.pack(ctx, next.PK, content, 0); err != nil {
		return err
	}
	if found {
		err = s.put(ctx, next, condition{
			expression: "#v = :v",
			names:      map[string]string{"#v": "v"},
			values:     attributes{":v": num(old.Version)},
		}, nil)
	} else {
		err = s.putFirst(ctx, p, next)
	}
	if errors.Is(err, errTaken) && next.Blob != "" {
		var there taskItem
		if _, err := s.get(ctx, key{next.PK, next.SK}, &there); err != nil {
			return err
		}
		if there.Blob == next.Blob {
			err = nil // it landed, and only the answer was lost
		}
	}
	unused := old.body
	switch {
	case errors.Is(err, errTaken):
		unused = next.body
	case err != nil:
		return err // its fate is unknown: no chunk may go
	}
	if cleanup := s.discard(ctx, next.PK, unused); cleanup != nil {
		s.log.WarnContext(ctx, "chunks of a replaced task stay until the session goes", "error", cleanup)
	}
	return err
}

// putFirst writes a task that has a pointer and no item yet, if the pointer
// still stands: a deletion between the two must not leave the item behind.
func (s *Store) putFirst(ctx context.Context, p *taskPointer, next *taskItem) error {
	put, err := s.transactPut(next, condition{expression: ifAbsent})
	if err != nil {
		return err
	}
	return s.transact(ctx, put, types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName:                 &s.table,
		Key:                       key{p.PK, p.SK}.attributes(),
		ConditionExpression:       ptr("#p = :p AND #ct = :ct"),
		ExpressionAttributeNames:  map[string]string{"#p": "p", "#ct": "ct"},
		ExpressionAttributeValues: attributes{":p": num(p.Place), ":ct": num(p.Created)},
	}})
}

func (b taskBody) task(sessionID, id string, item *taskItem) task.Task {
	return task.Task{
		ID: id, SessionID: sessionID,
		UserMessage: b.UserMessage, Bubbles: b.Bubbles, Metadata: b.Metadata,
		CreatedTime: item.Created, UpdatedTime: item.Updated,
	}
}

// missingTask is the fault of a task that is not there.
func missingTask() error { return fault.Missing("Task") }
