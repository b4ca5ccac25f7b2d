package watching

import (
	"fmt"
	"strings"

	"github.com/rethread/rethread/shared/domain/notification"
	"github.com/rethread/rethread/shared/store/artifacts"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/feedback"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/tasks"
)

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
