package sessions

import (
	"fmt"
	"strings"

	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/store/table"
)

// fresh reads an item into a record, where it is new and others are told of it.
func fresh(c Change, into any) (bool, error) {
	if c.Old != nil || c.New[attrTold] == nil {
		return false, nil
	}
	if err := table.Decode(c.New, into); err != nil {
		return false, fmt.Errorf("unmarshal %T: %w", into, err)
	}
	return true, nil
}

// newSession tells of a session that is there now: created, imported or forked.
func newSession(c Change) ([]delivery.Event, error) {
	if c.Old != nil {
		return nil, nil
	}
	var h header
	if err := table.Decode(c.New, &h); err != nil {
		return nil, fmt.Errorf("unmarshal a session: %w", err)
	}
	typ := delivery.SessionCreated
	if h.Origin != nil {
		typ = delivery.SessionForked
	}
	e := h.tells().event(typ, h.Log+".created", max(h.Created, h.Imported))
	e.Log = h.Log
	if h.Origin != nil {
		e.Source, e.Before = h.Origin.Session, derefOr(h.Origin.Before)
	}
	return []delivery.Event{e}, nil
}

// deletedSession tells of a session that is not there any more. Its parts went
// with it, and are not told of.
func deletedSession(c Change, log string) ([]delivery.Event, error) {
	var item gone
	if ok, err := fresh(c, &item); err != nil || !ok {
		return nil, err
	}
	e := item.event(delivery.SessionDeleted, log+".deleted", item.Deleted)
	e.Log = log
	return []delivery.Event{e}, nil
}

// savedTask tells of each version of a task that a caller saved.
func savedTask(c Change, log string) ([]delivery.Event, error) {
	if c.New[attrTold] == nil {
		return nil, nil
	}
	var was, now taskItem
	if err := table.Decode(c.Old, &was); err != nil {
		return nil, fmt.Errorf("unmarshal a task: %w", err)
	}
	if err := table.Decode(c.New, &now); err != nil {
		return nil, fmt.Errorf("unmarshal a task: %w", err)
	}
	if now.Saved != now.Version || now.Saved == was.Saved && now.Created == was.Created {
		return nil, nil
	}
	_, id, err := taskOf(now.SK)
	if err != nil {
		return nil, err
	}
	e := now.event(delivery.TaskSaved, factID("task", log, id, now.Created, now.Version), now.Updated)
	e.Log, e.TaskID = log, id
	return []delivery.Event{e}, nil
}

// savedArtifact tells of a version that a caller put. What it holds was stored
// before it.
func savedArtifact(c Change, pk string) ([]delivery.Event, error) {
	var item artifactItem
	if ok, err := fresh(c, &item); err != nil || !ok {
		return nil, err
	}
	name, version, err := item.place()
	if err != nil {
		return nil, err
	}
	e := item.event(delivery.ArtifactSaved, factID("artifact", pk, item.SK, item.Nonce), item.Created)
	e.Artifact, e.Version = name, version
	if log, ok := strings.CutPrefix(pk, prefixLog); ok {
		e.Log = log
	} else {
		e.Artifact = artifact.UserPrefix + name
	}
	return []delivery.Event{e}, nil
}

// givenFeedback tells of a feedback, and not of what it says.
func givenFeedback(c Change) ([]delivery.Event, error) {
	var item feedbackItem
	if ok, err := fresh(c, &item); err != nil || !ok {
		return nil, err
	}
	_, id, _ := strings.Cut(item.SK, "#")
	e := item.event(delivery.FeedbackCreated, "feedback."+id, item.Created)
	e.TaskID, e.Feedback = item.Task, item.Type
	return []delivery.Event{e}, nil
}
