package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/domain/erasure"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/archives"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/sweep"
	"github.com/rethread/rethread/shared/store/table"
)

const (
	// eraseTime is how long a request erases before it leaves the rest to
	// SweepErasures.
	eraseTime = 18 * time.Second
	// eraseAgain is when everything is looked for once more: the index of sessions
	// may not yet show the latest ones.
	eraseAgain = 30 * time.Second
	// reportLife is how long a report is kept.
	reportLife = 30 * 24 * time.Hour
)

// erasureItem is the erasure of everything that a user had at a time. It is in the
// index while there is work left.
type erasureItem struct {
	PK       string          `dynamodbav:"PK"`
	SK       string          `dynamodbav:"SK"`
	User     string          `dynamodbav:"u"`
	Started  int64           `dynamodbav:"ct"`
	Ended    int64           `dynamodbav:"et,omitempty"`
	Removed  erasure.Removed `dynamodbav:"r"`
	GPK      string          `dynamodbav:"GPK,omitempty"`
	GSK      string          `dynamodbav:"GSK,omitempty"`
	Lifetime int64           `dynamodbav:"expires,omitempty"`
}

// erasureStarted is the attribute of erasureItem.Started.
const erasureStarted = "ct"

func (e *erasureItem) report() erasure.Report {
	out := erasure.Report{Status: erasure.InProgress, StartedTime: e.Started, Removed: e.Removed}
	if e.Ended > 0 {
		out.Status, out.EndedTime = erasure.Complete, &e.Ended
	}
	return out
}

// Erase implements erasure.Store. The erasure is recorded first, so that the
// sweeper finishes what a request leaves.
func (s *Store) Erase(ctx context.Context, userID string) (erasure.Report, error) {
	k, now := keys.ErasureKey(userID), s.Now()
	e := &erasureItem{
		PK: k.PK, SK: k.SK, User: userID, Started: now.UnixMilli(),
		GPK: keys.GpkErase, GSK: keys.ActivitySK(now.Add(eraseAgain).UnixMilli(), ""),
	}
	var before erasureItem
	if found, err := s.DB.Get(ctx, k, &before); err != nil {
		return erasure.Report{}, err
	} else if found && before.GPK != "" { // what it removed counts too
		e.Removed = before.Removed
	}
	if err := s.DB.Put(ctx, e); err != nil {
		return erasure.Report{}, fmt.Errorf("erase: %w", err)
	}
	limited, cancel := context.WithTimeout(ctx, eraseTime)
	defer cancel()
	err := s.eraseAll(limited, e)
	switch {
	case err == nil:
		e.Ended = s.Millis()
	case limited.Err() == nil:
		s.Log.WarnContext(ctx, "an erasure waits to be finished", "error", err)
	}
	if ctx.Err() != nil {
		return erasure.Report{}, ctx.Err()
	}
	return e.report(), s.note(ctx, e)
}

// note stores the progress of an erasure, unless another one has begun.
func (s *Store) note(ctx context.Context, e *erasureItem) error {
	err := s.DB.Put(ctx, e, table.Equal(table.Path{erasureStarted}, e.Started))
	if errors.Is(err, table.ErrConditionFailed) {
		return nil
	}
	return err
}

// Erasure implements erasure.Store.
func (s *Store) Erasure(ctx context.Context, userID string) (erasure.Report, error) {
	var e erasureItem
	found, err := s.DB.Get(ctx, keys.ErasureKey(userID), &e)
	if err != nil {
		return erasure.Report{}, err
	}
	if !found || (e.Lifetime > 0 && e.Lifetime <= s.Now().Unix()) {
		return erasure.Report{}, fault.Missing("Erasure")
	}
	return e.report(), nil
}

// SweepErasures finishes the erasures that are due, and returns how many.
func (s *Store) SweepErasures(ctx context.Context) (int, error) {
	return sweep.Due(ctx, s.Base, keys.GpkErase, s.Millis(), func(ctx context.Context, k table.Key) (bool, error) {
		var e erasureItem
		found, err := s.DB.Get(ctx, k, &e)
		if err != nil || !found || e.GPK == "" {
			return false, err
		}
		if err = s.eraseAll(ctx, &e); err == nil {
			e.Ended, e.GPK, e.GSK = max(e.Ended, s.Millis()), "", ""
			e.Lifetime = s.Now().Add(reportLife).Unix()
		}
		noting, cancel := context.WithTimeout(context.WithoutCancel(ctx), sweep.MoveTime) // record what was removed
		defer cancel()
		if err := errors.Join(err, s.note(noting, &e)); err != nil {
			return false, fmt.Errorf("finish an erasure: %w", err)
		}
		return true, nil
	})
}

// eraseAll removes what the user had when the erasure began, and counts it. A
// failure of one part does not stop the others.
func (s *Store) eraseAll(ctx context.Context, e *erasureItem) error {
	steps := []func(context.Context, *erasureItem) error{
		s.eraseSessions, s.eraseImports, s.eraseShared,
		func(ctx context.Context, e *erasureItem) error {
			return s.feedback.EraseFeedback(ctx, e.User, &e.Removed)
		},
		s.eraseRecords,
		func(ctx context.Context, e *erasureItem) error { return s.usage.EraseQuotas(ctx, e.User) },
	}
	for _, d := range s.dependents {
		steps = append(steps, func(ctx context.Context, e *erasureItem) error {
			return d.EraseUser(ctx, e.User, e.Started, &e.Removed)
		})
	}
	return records.EachOf(ctx, steps, func(step func(context.Context, *erasureItem) error) error { return step(ctx, e) })
}

func (s *Store) eraseSessions(ctx context.Context, e *erasureItem) error {
	q := table.Query{Index: store.ActivityIndex, Partition: keys.ActivityPK(e.User)}
	return s.DB.EachItem(ctx, q, func(item table.Item) error {
		var h sessions.Header
		found, err := s.DB.Get(ctx, records.KeyOf(item), &h)
		if err != nil || !found || max(h.Created, h.Imported) > e.Started {
			return err
		}
		if err := s.eraseSession(ctx, &h, e); err != nil {
			return fmt.Errorf("erase session %s: %w", h.ID(), err)
		}
		return nil
	})
}

func (s *Store) eraseSession(ctx context.Context, h *sessions.Header, e *erasureItem) error {
	tasks, err := s.DB.Count(ctx, keys.LogPK(h.Log), keys.PrefixTask)
	if err != nil {
		return err
	}
	artifacts, err := s.DB.Count(ctx, keys.LogPK(h.Log), keys.PrefixArtifact)
	if err != nil {
		return err
	}
	feedback, err := s.DB.Count(ctx, keys.LogPK(h.Log), keys.PrefixFeedback)
	if err != nil {
		return err
	}
	if err := s.Delete(ctx, h.User, h.ID()); err != nil {
		if errors.Is(err, fault.Of(fault.NotFound)) {
			return nil
		}
		return err
	}
	e.Removed.Sessions++
	e.Removed.Tasks += tasks
	e.Removed.Artifacts += artifacts
	e.Removed.Feedback += feedback
	return nil
}

func (s *Store) eraseImports(ctx context.Context, e *erasureItem) error {
	return s.DB.EachItem(ctx, records.Partition(keys.ImportPK(e.User)), func(item table.Item) error {
		var rec archives.ImportItem
		if err := table.Decode(item, &rec); err != nil {
			return fmt.Errorf("unmarshal an import: %w", err)
		}
		if err := s.deleteUnless(ctx, &rec); err != nil {
			return err
		}
		e.Removed.Imports++
		return nil
	})
}

// deleteUnless removes an import with everything it brought; if it is complete, it
// removes only the record of the import.
func (s *Store) deleteUnless(ctx context.Context, rec *archives.ImportItem) error {
	if rec.State == archive.ImportDone {
		return s.DB.DeleteItems(ctx, []table.Item{rec.Key().Item()})
	}
	return s.archives.AbandonImport(ctx, rec)
}

// eraseShared removes what the user's sessions share, app by app.
func (s *Store) eraseShared(ctx context.Context, e *erasureItem) error {
	return s.DB.EachItem(ctx, records.Partition(keys.AppsPK(e.User)), func(item table.Item) error {
		pk := keys.UserStateKey(table.Text(item, table.SK), e.User).PK
		n, err := s.DB.Count(ctx, pk, keys.PrefixArtifact)
		if err != nil {
			return err
		}
		if err := s.DB.DeleteFound(ctx, sessions.KeysOnly(records.Partition(pk))); err != nil {
			return err
		}
		if err := s.DB.DeleteItems(ctx, []table.Item{item}); err != nil {
			return err
		}
		e.Removed.Apps++
		e.Removed.Artifacts += n
		return nil
	})
}

// eraseRecords removes what is left of the user's requests.
func (s *Store) eraseRecords(ctx context.Context, e *erasureItem) error {
	for _, p := range []struct {
		pk    string
		count *int
	}{
		{keys.FeedbackTimeKey(e.User, "").PK, new(int)},
		{keys.LinkPK(e.User), &e.Removed.Records},
	} {
		err := s.DB.Pages(ctx, sessions.KeysOnly(records.Partition(p.pk)), func(page []table.Item) (bool, error) {
			*p.count += len(page)
			return true, s.DB.DeleteItems(ctx, page)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
