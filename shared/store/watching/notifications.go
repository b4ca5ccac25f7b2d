package watching

import (
	"context"
	"fmt"
	"strings"

	"github.com/rethread/rethread/shared/domain/notification"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/artifacts"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/feedback"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/tasks"
)

// Notifications returns the events for receivers that a change means, as decided by
// package notification. Removals mean nothing: a deletion leaves a tombstone with
// its own change.
func (s *Store) Notifications(ctx context.Context, c records.Change) ([]notification.Event, error) {
	if c.New == nil {
		return nil, nil
	}
	pk, sk := table.Text(c.New, table.PK), table.Text(c.New, table.SK)
	var events []notification.Event
	var err error
	switch log, inLog := strings.CutPrefix(pk, keys.PrefixLog); {
	case inLog && sk == keys.SkDeleted:
		events, err = deletedSession(c, log)
	case inLog && strings.HasPrefix(sk, keys.PrefixEntry):
		events, err = s.writtenEntry(ctx, c, log)
	case inLog && strings.HasPrefix(sk, keys.PrefixTask):
		events, err = savedTask(c, log)
	case strings.HasPrefix(sk, keys.PrefixArtifact):
		events, err = savedArtifact(c, pk)
	case strings.HasPrefix(pk, keys.PrefixSession) && sk == keys.SkHeader:
		events, err = newSession(c)
	case strings.HasPrefix(pk, keys.PrefixFeedback):
		events, err = givenFeedback(c)
	case strings.HasPrefix(pk, keys.PrefixLink):
		events, err = cancelledTask(c, strings.TrimPrefix(pk, keys.PrefixLink), sk)
	}
	if err != nil {
		return nil, fmt.Errorf("notifications of %s %s: %w", pk, sk, err)
	}
	return events, nil
}

// writtenEntry decodes a new entry, or an item that was in progress. Other entries
// are not decoded: they were complete when they were written.
func (s *Store) writtenEntry(ctx context.Context, c records.Change, log string) ([]notification.Event, error) {
	if c.New[keys.AttrTombstone] != nil || c.Old != nil && table.Text(c.Old, eventlog.AttrStatus) != string(session.EventInProgress) {
		return nil, nil
	}
	rec, err := s.logs.DecodeEntry(ctx, c.New)
	if err != nil {
		return nil, err
	}
	e := notification.Entry{
		Log: log, New: c.Old == nil, Events: rec.Events, Time: rec.When,
		Began: rec.Began, Ended: rec.Ended, Marker: rec.IsRewind(), OfRun: rec.OfRun, Open: rec.Open,
	}
	if rec.User != "" {
		by := rec.Attributed()
		e.By = &by
	}
	return notification.OfEntry(e)
}

// cancelledTask decodes a link that gets the time of its task's cancellation.
func cancelledTask(c records.Change, user, taskID string) ([]notification.Event, error) {
	if c.New[tasks.AttrCancelled] == nil || c.Old[tasks.AttrCancelled] != nil {
		return nil, nil
	}
	var item tasks.LinkItem
	if err := table.Decode(c.New, &item); err != nil {
		return nil, fmt.Errorf("unmarshal a link: %w", err)
	}
	return []notification.Event{notification.OfCancelledTask(user, item.Session, taskID, item.Cancelled)}, nil
}

// readAttributed decodes an item if it is new and has an attribution.
func readAttributed(c records.Change, into any) (bool, error) {
	if c.Old != nil || c.New[eventlog.AttrAttribution] == nil {
		return false, nil
	}
	if err := table.Decode(c.New, into); err != nil {
		return false, fmt.Errorf("unmarshal %T: %w", into, err)
	}
	return true, nil
}

func newSession(c records.Change) ([]notification.Event, error) {
	if c.Old != nil {
		return nil, nil
	}
	var h sessions.Header
	if err := table.Decode(c.New, &h); err != nil {
		return nil, fmt.Errorf("unmarshal a session: %w", err)
	}
	s := notification.Session{By: h.Attribution().Attributed(), Log: h.Log, Created: h.Created, Imported: h.Imported}
	if o := h.Origin; o != nil {
		s.Fork = &notification.Fork{Source: o.Session, Before: records.Deref(o.Before)}
	}
	return []notification.Event{notification.OfSession(s)}, nil
}

func deletedSession(c records.Change, log string) ([]notification.Event, error) {
	var item sessions.DeletedLog
	if ok, err := readAttributed(c, &item); err != nil || !ok {
		return nil, err
	}
	return []notification.Event{notification.OfDeletion(item.Attributed(), log, item.Deleted)}, nil
}

func savedTask(c records.Change, log string) ([]notification.Event, error) {
	if c.New[eventlog.AttrAttribution] == nil {
		return nil, nil
	}
	var was, now tasks.TaskItem
	if err := table.Decode(c.Old, &was); err != nil {
		return nil, fmt.Errorf("unmarshal a task: %w", err)
	}
	if err := table.Decode(c.New, &now); err != nil {
		return nil, fmt.Errorf("unmarshal a task: %w", err)
	}
	_, id, err := keys.TaskOf(now.SK)
	if err != nil {
		return nil, err
	}
	return notification.OfTask(notification.Task{
		By: now.Attributed(), Log: log, TaskID: id, Updated: now.Updated, Was: versions(&was), Now: versions(&now),
	}), nil
}

func versions(item *tasks.TaskItem) notification.TaskVersion {
	return notification.TaskVersion{Version: item.Version, Saved: item.Saved, Created: item.Created}
}

func savedArtifact(c records.Change, pk string) ([]notification.Event, error) {
	var item artifacts.ArtifactItem
	if ok, err := readAttributed(c, &item); err != nil || !ok {
		return nil, err
	}
	name, version, err := item.NameAndVersion()
	if err != nil {
		return nil, err
	}
	a := notification.Artifact{
		By: item.Attributed(), Name: name, Version: version, Created: item.Created,
		Partition: pk, Key: item.SK, Nonce: item.Nonce,
	}
	if log, ok := strings.CutPrefix(pk, keys.PrefixLog); ok {
		a.Log = log
	}
	return []notification.Event{notification.OfArtifact(a)}, nil
}

func givenFeedback(c records.Change) ([]notification.Event, error) {
	var item feedback.Item
	if ok, err := readAttributed(c, &item); err != nil || !ok {
		return nil, err
	}
	_, id, _ := strings.Cut(item.SK, "#")
	return []notification.Event{notification.OfFeedback(notification.Feedback{
		By: item.Attributed(), ID: id, TaskID: item.Task, Type: item.Type, Created: item.Created,
	})}, nil
}
