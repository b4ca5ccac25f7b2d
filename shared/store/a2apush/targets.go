package a2apush

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/push"
	"github.com/rethread/rethread/shared/store/table"
)

// Targets returns the push configurations of the A2A task that an event's run
// belongs to. It takes a read unit, and another for a run that continues a task.
func (s *Store) Targets(ctx context.Context, e delivery.Event) ([]delivery.Target, error) {
	if e.RunID == "" {
		return nil, nil
	}
	log, err := s.logOfEvent(ctx, e)
	if err != nil || log == "" {
		return nil, err
	}
	id := e.RunID
	var list listed
	if _, err := s.base.DB.Get(ctx, place{log, id}.list(), &list); err != nil {
		return nil, err
	}
	if list.Task != "" {
		id, list = list.Task, listed{}
		if _, err := s.base.DB.Get(ctx, place{log, id}.list(), &list); err != nil {
			return nil, err
		}
	}
	var targets []delivery.Target
	for _, config := range slices.Sorted(maps.Keys(list.Since)) {
		if list.Since[config] <= e.Time {
			targets = append(targets, push.Target(log, id, config))
		}
	}
	return targets, nil
}

// logOfEvent returns the log of an event's session; "" if the session is deleted.
func (s *Store) logOfEvent(ctx context.Context, e delivery.Event) (string, error) {
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

// TargetConfig implements push.Targets.
func (s *Store) TargetConfig(ctx context.Context, t delivery.Target) (push.Task, push.Config, error) {
	log, id, config, ok := push.ParseTarget(t)
	if !ok {
		return push.Task{}, push.Config{}, fmt.Errorf("%w: no push configuration is named %q", delivery.ErrGone, t.Name)
	}
	var item pushed
	if _, err := s.base.DB.Get(ctx, place{log, id}.configs(), &item); err != nil {
		return push.Task{}, push.Config{}, err
	}
	c, ok := item.Configs[config]
	if !ok {
		return push.Task{}, push.Config{}, fmt.Errorf("%w: the push configuration", delivery.ErrGone)
	}
	return push.Task{UserID: item.User, SessionID: item.Session, ID: id}, c.config(config), nil
}

// DropTarget implements push.Targets.
func (s *Store) DropTarget(ctx context.Context, t delivery.Target, url string) error {
	log, id, config, ok := push.ParseTarget(t)
	if !ok {
		return nil
	}
	sameURL := table.Equal(table.Path{attrConfigs, config, pushConfigURL}, url)
	err := s.base.DB.Transact(ctx, removal(place{log, id}, config, sameURL)...)
	if errors.Is(err, table.ErrConditionFailed) {
		return nil
	}
	return err
}
