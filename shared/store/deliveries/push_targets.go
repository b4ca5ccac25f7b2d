package deliveries

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/notification"
	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/store/table"
)

// Targets returns the push configurations of the A2A task that an event's run
// belongs to. It takes a read unit, and another for a run that continues a task.
func (s *Pushes) Targets(ctx context.Context, e notification.Event) ([]delivery.Target, error) {
	if e.RunID == "" {
		return nil, nil
	}
	log, err := s.logOfEvent(ctx, e)
	if err != nil || log == "" {
		return nil, err
	}
	id := e.RunID
	var list pushList
	if _, err := s.base.DB.Get(ctx, pushPlace{log, id}.list(), &list); err != nil {
		return nil, err
	}
	if list.Task != "" {
		id, list = list.Task, pushList{}
		if _, err := s.base.DB.Get(ctx, pushPlace{log, id}.list(), &list); err != nil {
			return nil, err
		}
	}
	var targets []delivery.Target
	for _, config := range slices.Sorted(maps.Keys(list.Since)) {
		if list.Since[config] <= e.Time {
			targets = append(targets, receiver.PushTarget(log, id, config))
		}
	}
	return targets, nil
}

// logOfEvent returns the log of an event's session; "" if the session is deleted.
func (s *Pushes) logOfEvent(ctx context.Context, e notification.Event) (string, error) {
	if e.Log != "" {
		return e.Log, nil
	}
	h, err := s.in.Find(ctx, e.UserID, e.SessionID)
	switch {
	case errors.Is(err, fault.Of(fault.NotFound)), errors.Is(err, fault.Of(fault.Forbidden)):
		return "", nil
	case err != nil:
		return "", err
	}
	return h.Log, nil
}

// TargetConfig implements receiver.PushTargets.
func (s *Pushes) TargetConfig(ctx context.Context, t delivery.Target) (receiver.PushTask, receiver.PushConfig, error) {
	log, id, config, ok := receiver.ParsePush(t)
	if !ok {
		return receiver.PushTask{}, receiver.PushConfig{}, fmt.Errorf("%w: no push configuration is named %q", delivery.ErrGone, t.Name)
	}
	var item pushesItem
	if _, err := s.base.DB.Get(ctx, pushPlace{log, id}.configs(), &item); err != nil {
		return receiver.PushTask{}, receiver.PushConfig{}, err
	}
	c, ok := item.Configs[config]
	if !ok {
		return receiver.PushTask{}, receiver.PushConfig{}, fmt.Errorf("%w: the push configuration", delivery.ErrGone)
	}
	return receiver.PushTask{UserID: item.User, SessionID: item.Session, ID: id}, c.config(config), nil
}

// DropTarget implements receiver.PushTargets.
func (s *Pushes) DropTarget(ctx context.Context, t delivery.Target, url string) error {
	log, id, config, ok := receiver.ParsePush(t)
	if !ok {
		return nil
	}
	sameURL := table.Equal(table.Path{attrConfigs, config, pushConfigURL}, url)
	err := s.base.DB.Transact(ctx, removal(pushPlace{log, id}, config, sameURL)...)
	if errors.Is(err, table.ErrConditionFailed) {
		return nil
	}
	return err
}
