package archives

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/sweep"
	"github.com/rethread/rethread/shared/store/table"
)

// Abandon implements archive.Importer.
func (s *Store) Abandon(ctx context.Context, userID, importID string) error {
	var rec ImportItem
	found, err := s.DB.Get(ctx, keys.ImportKey(userID, importID), &rec)
	switch {
	case err != nil:
		return err
	case !found:
		return fault.Missing("Import")
	}
	if err := rec.standing().CheckAbandon(s.Millis()); err != nil {
		return err
	}
	err = s.AbandonImport(ctx, &rec)
	if errors.Is(err, table.ErrConditionFailed) {
		return fault.New(fault.ImportPartConflict, "another part has been imported: try again")
	}
	return err
}

// AbandonImport ends an import and deletes its data, the import itself last, so that an
// interrupted call can be repeated.
func (s *Store) AbandonImport(ctx context.Context, rec *ImportItem) error {
	if rec.State == archive.ImportOpen {
		c := rec.same()
		rec.State, rec.Version = archive.ImportDead, rec.Version+1
		if err := s.DB.Put(ctx, rec, c); err != nil {
			return err
		}
	}
	staged, err := s.stagedItems(ctx, rec.Log)
	if err != nil {
		return err
	}
	for _, item := range staged {
		if err := s.content.Discard(ctx, item.Item.PK, item.Item.Body); err != nil {
			return err
		}
	}
	k := keys.DeletedKey(rec.Log) // a later sweep deletes what a concurrent request still writes
	if err := s.DB.Put(ctx, sessions.DeletedLog{
		PK: k.PK, SK: k.SK, GPK: keys.GpkDeleted, GSK: keys.ActivitySK(s.Millis(), rec.Log),
	}); err != nil {
		return err
	}
	if err := s.sessions.ClearLog(ctx, rec.Log); err != nil {
		return err
	}
	return s.DB.DeleteItems(ctx, []table.Item{rec.Key().Item()})
}

// SweepImports ends the imports that have waited for their next part for a day,
// and returns how many. It may be interrupted and repeated at any point.
func (s *Store) SweepImports(ctx context.Context) (int, error) {
	at := s.Now().Add(-importLife).UnixMilli()
	due := keys.ActivitySK(at, "")
	return sweep.Due(ctx, s.Base, keys.GpkImport, at, func(ctx context.Context, k table.Key) (bool, error) {
		var rec ImportItem
		found, err := s.DB.Get(ctx, k, &rec)
		if err != nil || !found || rec.State == archive.ImportDone || rec.GSK >= due {
			return false, err
		}
		if err := s.AbandonImport(ctx, &rec); err != nil && !errors.Is(err, table.ErrConditionFailed) {
			return false, fmt.Errorf("end an import: %w", err)
		}
		return true, nil
	})
}
