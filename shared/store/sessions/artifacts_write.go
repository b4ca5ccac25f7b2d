package sessions

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// PutArtifact implements artifact.Store. Contents are written first; the
// conditional put of the version makes them visible at once and decides which
// writer gets a number.
func (s *Store) PutArtifact(ctx context.Context, p artifact.Put) (artifact.Version, error) {
	h, err := s.header(ctx, p.UserID, p.SessionID)
	if err != nil {
		return artifact.Version{}, err
	}
	if err := s.admitBytes(ctx, h.User); err != nil {
		return artifact.Version{}, err
	}
	on, name := scopeOf(h, p.Name)
	item := &artifactItem{PK: on.pk, Mime: p.MimeType, Size: int64(len(p.Body)), Created: s.millis(), attribution: h.attribution()}
	if p.Target != nil {
		err = s.pointAt(ctx, h, item, *p.Target)
	} else {
		err = s.packBytes(ctx, item, p.Body)
	}
	if err != nil {
		return artifact.Version{}, err
	}
	_, top, err := s.newest(ctx, on, name)
	if err == nil && on.log == "" && top < 0 {
		err = s.db.Put(ctx, userApp(on.pk))
	}
	if err == nil {
		err = s.putVersion(ctx, item, name, top+1)
	}
	if err == nil && on.log == "" {
		s.countShared(ctx, h.User, kilobytes(item.Stored()))
	}
	if err == nil && on.log != "" {
		s.countBytes(ctx, h.ofLog(), kilobytes(item.Stored()))
		err = s.checkExists(ctx, h.Log) // earlier versions may have been deleted with the session
	}
	if err != nil {
		return artifact.Version{}, fmt.Errorf("put artifact %q: %w", p.Name, err)
	}
	return on.version(h, item)
}

// putVersion gives the item the first free number from number on: a writer that
// loses a number tries the next, so numbers are dense. If the outcome of a put is
// unknown the version may exist, so its chunks stay.
func (s *Store) putVersion(ctx context.Context, item *artifactItem, name string, number int64) error {
	item.Nonce = s.Base().NewLog()
	deadline := s.now().Add(contentionTime)
	for ; number <= artifact.MaxVersion; number++ {
		item.SK = artifactSK(name, number)
		err := s.db.Put(ctx, item, table.ItemNotExists())
		if !errors.Is(err, table.ErrConditionFailed) {
			return err
		}
		var stored artifactItem
		if _, err := records.Found(err, &stored); err != nil {
			return err
		}
		switch {
		case stored.Nonce == item.Nonce: // an earlier attempt succeeded and its answer was lost
			return nil
		case s.now().After(deadline):
			s.dropContents(ctx, item)
			return records.Busy("too many writers put this artifact")
		}
	}
	s.dropContents(ctx, item)
	return noNumberLeft()
}

func noNumberLeft() error {
	return fault.New(fault.Invalid, "the artifact has no number left for another version")
}

// dropContents removes the chunks of a version that was not created.
func (s *Store) dropContents(ctx context.Context, item *artifactItem) {
	if err := s.content.Discard(ctx, item.PK, item.Body); err != nil {
		s.log.WarnContext(ctx, "chunks of a failed artifact stay until the session is deleted", "error", err)
	}
}

// DeleteArtifact implements artifact.Store: the next version is one that reads as
// deleted.
func (s *Store) DeleteArtifact(ctx context.Context, userID, sessionID, name string) error {
	h, err := s.header(ctx, userID, sessionID)
	if err != nil {
		return err
	}
	on, rest := scopeOf(h, name)
	item := &artifactItem{PK: on.pk, Created: s.millis(), Nonce: s.Base().NewLog(), Gone: true}
	return records.Contended(ctx, func() error {
		stored, top, err := s.newest(ctx, on, rest)
		if err != nil {
			return fmt.Errorf("delete artifact %q: %w", name, err)
		}
		switch {
		case stored != nil && stored.Nonce == item.Nonce:
			return nil
		case stored == nil || stored.Gone:
			return s.notFoundIfDeleted(ctx, h, missingArtifact())
		case top >= artifact.MaxVersion:
			return noNumberLeft()
		}
		item.SK = artifactSK(rest, top+1)
		return s.db.Put(ctx, item, table.ItemNotExists())
	})
}

// restoredVersion prepares the put by which a rewind restores a version of an
// artifact in its transaction: the next version points to it, or reads as deleted
// if version is -1 or does not exist itself.
func (s *Store) restoredVersion(
	ctx context.Context, h *header, name string, version int64,
) (put table.Write, newVersion int64, err error) {
	fail := func(err error) (table.Write, int64, error) {
		return table.Write{}, 0, fmt.Errorf("restore artifact %q: %w", name, err)
	}
	on, rest := scopeOf(h, name)
	_, top, err := s.newest(ctx, on, rest)
	if err != nil {
		return fail(err)
	}
	if top >= artifact.MaxVersion {
		return fail(noNumberLeft())
	}
	var was *artifactItem
	if version >= 0 {
		if was, err = s.versionAt(ctx, on, rest, version); err != nil {
			return fail(err)
		}
	}
	next := &artifactItem{PK: on.pk, SK: artifactSK(rest, top+1), Created: s.millis()}
	if was == nil || was.Gone {
		next.Gone = true
	} else {
		next.follow(was)
		next.Restored = &version
	}
	return table.Put(next, table.ItemNotExists()), top + 1, nil
}

func missingArtifact() error { return fault.Missing("Artifact") }
