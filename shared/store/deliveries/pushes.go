package deliveries

import (
	"context"
	"errors"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/store/lifecycle"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// Sessions finds the session of a task.
type Sessions interface {
	Find(ctx context.Context, userID, id string) (sessions.Ref, error)
}

// Pushes stores push configurations in a table. It is safe for concurrent use.
type Pushes struct {
	lifecycle.Nothing
	base  records.Base
	in    Sessions
	lanes *Lanes
}

var (
	_ receiver.Pushes      = (*Pushes)(nil)
	_ receiver.PushTargets = (*Pushes)(nil)
	_ lifecycle.Dependent  = (*Pushes)(nil)
)

// NewPushes returns the store for tasks of the given sessions and for lanes in the same
// table.
func NewPushes(base records.Base, in Sessions, lanes *Lanes) *Pushes {
	return &Pushes{base: base, in: in, lanes: lanes}
}

// PutConfig implements receiver.Pushes.
func (s *Pushes) PutConfig(ctx context.Context, t receiver.PushTask, c receiver.PushConfig) error {
	h, err := s.in.Find(ctx, t.UserID, t.SessionID)
	if err != nil {
		return err
	}
	return records.Contended(ctx, func() error { return s.tryPutConfig(ctx, pushPlace{h.Log, t.ID}, t, c) })
}

// tryPutConfig puts the first configuration of a task, or adds one; it returns
// table.ErrConditionFailed if the configurations changed concurrently.
func (s *Pushes) tryPutConfig(ctx context.Context, p pushPlace, t receiver.PushTask, c receiver.PushConfig) error {
	item := pushConfig{
		URL: c.URL, Token: c.Token, Scheme: c.Scheme, Credentials: c.Credentials, Version: c.Version, Since: c.Since,
	}
	of, list := p.configs(), p.list()
	var now pushesItem
	found, err := s.base.DB.Get(ctx, of, &now)
	if err != nil {
		return err
	}
	if !found {
		return s.base.DB.Transact(
			ctx,
			table.Put(pushesItem{
				PK: of.PK, SK: of.SK, User: t.UserID, Session: t.SessionID, Configs: map[string]pushConfig{c.ID: item},
			}, table.ItemNotExists()),
			table.Put(pushList{PK: list.PK, SK: list.SK, Since: map[string]int64{c.ID: c.Since}}),
		)
	}
	if _, known := now.Configs[c.ID]; !known && len(now.Configs) >= receiver.MaxPushConfigs {
		return fault.New(fault.LimitReached, "a task has at most %d push notification configurations", receiver.MaxPushConfigs)
	}
	all, one := table.Path{attrConfigs}, table.Path{attrConfigs, c.ID}
	return s.base.DB.Transact(
		ctx,
		table.Update(of, []table.Change{table.Set(one, item)},
			table.Exists(all), table.Or(table.Exists(one), table.SizeLess(all, receiver.MaxPushConfigs))),
		table.Update(list, []table.Change{table.Set(one, c.Since)}, table.Exists(all)),
	)
}

// Configs implements receiver.Pushes.
func (s *Pushes) Configs(ctx context.Context, t receiver.PushTask) ([]receiver.PushConfig, error) {
	h, err := s.in.Find(ctx, t.UserID, t.SessionID)
	if err != nil {
		return nil, err
	}
	var item pushesItem
	if _, err := s.base.DB.Get(ctx, pushPlace{h.Log, t.ID}.configs(), &item); err != nil {
		return nil, err
	}
	return item.configs(), nil
}

// DeleteConfig implements receiver.Pushes. If it is interrupted, the next pass of the
// lane removes the rest, as does a repeat.
func (s *Pushes) DeleteConfig(ctx context.Context, t receiver.PushTask, id string) error {
	h, err := s.in.Find(ctx, t.UserID, t.SessionID)
	if err != nil {
		return err
	}
	p, target := pushPlace{h.Log, t.ID}, receiver.PushTarget(h.Log, t.ID, id)
	err = s.lanes.RemoveTarget(ctx, target, func() error {
		var item pushesItem
		_, err := s.base.DB.Get(ctx, p.configs(), &item)
		if _, exists := item.Configs[id]; !exists && err == nil {
			err = errNoConfig
		}
		return err
	}, removal(p, id)...)
	if errors.Is(err, errNoConfig) {
		return s.lanes.Forget(ctx, target.Group())
	}
	return err
}

// errNoConfig says that a push configuration does not exist.
var errNoConfig = errors.New("no such push configuration")

// removal returns the writes that remove an existing configuration if the conditions
// in more hold.
func removal(p pushPlace, id string, more ...table.Condition) []table.Write {
	one := table.Path{attrConfigs, id}
	remove := []table.Change{table.Remove(one)}
	return []table.Write{
		table.Update(p.configs(), remove, append(more, table.Exists(one))...),
		table.Update(p.list(), remove, table.Exists(one)),
	}
}

// ContinueTask implements receiver.Pushes.
func (s *Pushes) ContinueTask(ctx context.Context, t receiver.PushTask, runID string) error {
	h, err := s.in.Find(ctx, t.UserID, t.SessionID)
	if err != nil {
		return err
	}
	k := pushPlace{h.Log, runID}.list()
	return s.base.DB.Put(ctx, pushList{PK: k.PK, SK: k.SK, Task: t.ID})
}
