package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/push"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

var (
	_ push.Store   = (*Store)(nil)
	_ push.Targets = (*Store)(nil)
)

// pushed is who is told of a task: all configurations in one item, so that to
// find them takes one read unit, and none is one too many. It has a partition
// beside the log's: what is secret in it is out of reach for who reads logs.
type pushed struct {
	PK      string                `dynamodbav:"PK"`
	SK      string                `dynamodbav:"SK"`
	User    string                `dynamodbav:"u,omitempty"`
	Session string                `dynamodbav:"s,omitempty"`
	Configs map[string]pushConfig `dynamodbav:"c,omitempty"`
	// Task is set instead of all else under the id of a run: the task whose run
	// it is.
	Task string `dynamodbav:"t,omitempty"`
}

type pushConfig struct {
	URL         string `dynamodbav:"u"`
	Token       string `dynamodbav:"t,omitempty"`
	Scheme      string `dynamodbav:"s,omitempty"`
	Credentials string `dynamodbav:"c,omitempty"`
	Version     string `dynamodbav:"v"`
	Since       int64  `dynamodbav:"ct,omitempty"`
}

const (
	pushedConfigs = "c"
	pushConfigURL = "u" // of a pushConfig
)

// PutConfig implements push.Store.
func (s *Store) PutConfig(ctx context.Context, t push.Task, c push.Config) error {
	h, err := s.header(ctx, t.UserID, t.SessionID)
	if err != nil {
		return err
	}
	return records.Contended(ctx, func() error { return s.tryPutConfig(ctx, pushKey(h.Log, t.ID), t, c) })
}

// tryPutConfig puts the first configuration of a task, or adds one;
// table.ErrConditionFailed where they changed meanwhile.
func (s *Store) tryPutConfig(ctx context.Context, k table.Key, t push.Task, c push.Config) error {
	item := pushConfig{
		URL: c.URL, Token: c.Token, Scheme: c.Scheme, Credentials: c.Credentials, Version: c.Version, Since: c.Since,
	}
	err := s.db.Put(ctx, pushed{
		PK: k.PK, SK: k.SK, User: t.UserID, Session: t.SessionID, Configs: map[string]pushConfig{c.ID: item},
	}, table.ItemNotExists())
	if !errors.Is(err, table.ErrConditionFailed) {
		return err
	}
	all, one := table.At(pushedConfigs), table.At(pushedConfigs, c.ID)
	err = s.db.Update(ctx, k, []table.Change{table.Set(one, item)},
		table.Exists(all), table.Or(table.Exists(one), table.SizeLess(all, push.MaxConfigs)))
	if !errors.Is(err, table.ErrConditionFailed) {
		return err
	}
	var now pushed
	if _, err := s.db.Get(ctx, k, &now); err != nil {
		return err
	}
	if _, known := now.Configs[c.ID]; !known && len(now.Configs) >= push.MaxConfigs {
		return fault.New(fault.Invalid, "a task has at most %d push notification configurations", push.MaxConfigs)
	}
	return err
}

// Configs implements push.Store.
func (s *Store) Configs(ctx context.Context, t push.Task) ([]push.Config, error) {
	h, err := s.header(ctx, t.UserID, t.SessionID)
	if err != nil {
		return nil, err
	}
	var item pushed
	if _, err := s.db.Get(ctx, pushKey(h.Log, t.ID), &item); err != nil {
		return nil, err
	}
	return item.configs(), nil
}

// DeleteConfig implements push.Store. Where it is cut short the next turn of its lane
// removes what is left of that, as does a repetition.
func (s *Store) DeleteConfig(ctx context.Context, t push.Task, id string) error {
	h, err := s.header(ctx, t.UserID, t.SessionID)
	if err != nil {
		return err
	}
	k, target := pushKey(h.Log, t.ID), push.Target(h.Log, t.ID, id)
	err = s.removeTarget(ctx, target, func() error {
		var item pushed
		_, err := s.db.Get(ctx, k, &item)
		if _, there := item.Configs[id]; !there && err == nil {
			err = errNoConfig
		}
		return err
	}, removeConfig(k, id))
	if errors.Is(err, errNoConfig) {
		return s.forgetLanes(ctx, target.Group())
	}
	return err
}

// errNoConfig says that a push configuration is not there.
var errNoConfig = errors.New("no such push configuration")

// removeConfig is the write that removes a configuration that is there, if more holds.
func removeConfig(k table.Key, id string, more ...table.Condition) table.Write {
	one := table.At(pushedConfigs, id)
	return table.Update(k, []table.Change{table.Remove(one)}, append(more, table.Exists(one))...)
}

// ContinueTask implements push.Store.
func (s *Store) ContinueTask(ctx context.Context, t push.Task, runID string) error {
	h, err := s.header(ctx, t.UserID, t.SessionID)
	if err != nil {
		return err
	}
	k := pushKey(h.Log, runID)
	return s.db.Put(ctx, pushed{PK: k.PK, SK: k.SK, Task: t.ID})
}

// pushTargets are the push configurations of the A2A task whose run an event is
// of. It takes a read unit, and another for a run that
// goes on with a task.
func (s *Store) pushTargets(ctx context.Context, e delivery.Event) ([]delivery.Target, error) {
	if e.RunID == "" {
		return nil, nil
	}
	log, err := s.logOfEvent(ctx, e)
	if err != nil || log == "" {
		return nil, err
	}
	id := e.RunID
	var item pushed
	if _, err := s.db.Get(ctx, pushKey(log, id), &item); err != nil {
		return nil, err
	}
	if item.Task != "" {
		id = item.Task
		item = pushed{}
		if _, err := s.db.Get(ctx, pushKey(log, id), &item); err != nil {
			return nil, err
		}
	}
	var targets []delivery.Target
	for _, c := range item.configs() {
		if c.Since <= e.Time {
			targets = append(targets, push.Target(log, id, c.ID))
		}
	}
	return targets, nil
}

// logOfEvent is the log of an event's session; "" where that is deleted.
func (s *Store) logOfEvent(ctx context.Context, e delivery.Event) (string, error) {
	if e.Log != "" {
		return e.Log, nil
	}
	h, err := s.header(ctx, e.UserID, e.SessionID)
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
	if _, err := s.db.Get(ctx, pushKey(log, id), &item); err != nil {
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
	sameURL := table.Equal(table.At(pushedConfigs, config, pushConfigURL), url)
	err := s.db.Write(ctx, removeConfig(pushKey(log, id), config, sameURL))
	if errors.Is(err, table.ErrConditionFailed) {
		return nil
	}
	return err
}

// forgetPushed removes who is told of the tasks of a session that is deleted, and
// what waits for them.
func (s *Store) forgetPushed(ctx context.Context, log string) error {
	err := s.db.Pages(ctx, records.Partition(pushPK(log)), func(page []table.Item) (bool, error) {
		for _, item := range page {
			configs, _ := item[pushedConfigs].(*types.AttributeValueMemberM)
			if configs == nil {
				continue
			}
			for id := range configs.Value {
				if err := s.forgetLanes(ctx, push.Target(log, table.Text(item, table.SK), id).Group()); err != nil {
					return false, err
				}
			}
		}
		return true, s.db.DeleteItems(ctx, page)
	})
	if err != nil {
		return fmt.Errorf("remove the push configurations of log %s: %w", log, err)
	}
	return nil
}

func (p pushed) configs() []push.Config {
	out := make([]push.Config, 0, len(p.Configs))
	for id, c := range p.Configs {
		out = append(out, c.config(id))
	}
	slices.SortFunc(out, func(a, b push.Config) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

func (c pushConfig) config(id string) push.Config {
	return push.Config{
		ID: id, URL: c.URL, Token: c.Token, Scheme: c.Scheme, Credentials: c.Credentials, Version: c.Version, Since: c.Since,
	}
}
