package artifacts

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/usage"
)

// PutArtifact implements artifact.Store. Contents are written first; the
// conditional put of the version makes them visible at once and decides which
// writer gets a number.
func (s *Store) PutArtifact(ctx context.Context, p artifact.Put) (artifact.Version, error) {
	h, err := s.sessions.Header(ctx, p.UserID, p.SessionID)
	if err != nil {
		return artifact.Version{}, err
	}
	if err := s.sessions.AdmitBytes(ctx, h.User); err != nil {
		return artifact.Version{}, err
	}
	on, name := ScopeOf(h, p.Name)
	item := &ArtifactItem{PK: on.PK, Mime: p.MimeType, Size: int64(len(p.Body)), Created: s.Millis(), Attribution: h.Attribution()}
	if p.Target != nil {
		err = s.pointAt(ctx, h, item, *p.Target)
	} else {
		err = s.PackBytes(ctx, item, p.Body)
	}
	if err != nil {
		return artifact.Version{}, err
	}
	if on.Log != "" {
		item.Gen = h.ForkCount
	}
	_, next, err := s.nextVersion(ctx, on, name)
	if err == nil && on.Log == "" && next == 0 {
		err = s.DB.Put(ctx, eventlog.UserApp(on.PK))
	}
	if err == nil {
		err = s.putVersion(ctx, item, name, next)
	}
	if err == nil && on.Log == "" {
		s.usage.CountShared(ctx, h.User, usage.Kilobytes(item.Stored()))
	}
	if err == nil && on.Log != "" {
		s.sessions.CountBytes(ctx, h.OfLog(), usage.Kilobytes(item.Stored()))
		err = s.logs.CheckExists(ctx, h.Log) // earlier versions may have been deleted with the session
	}
	if err != nil {
		return artifact.Version{}, fmt.Errorf("put artifact %q: %w", p.Name, err)
	}
	return on.version(h, item)
}

// putVersion gives the item the first free number from number on: a writer that
// loses a number tries the next, so numbers are dense. If the outcome of a put is
// unknown the version may exist, so its chunks stay.
func (s *Store) putVersion(ctx context.Context, item *ArtifactItem, name string, number int64) error {
	item.Nonce = s.NewLog()
	deadline := s.Now().Add(eventlog.ContentionTime)
	for ; number <= artifact.MaxVersion; number++ {
		item.SK = VersionSK(name, number)
		err := s.DB.Put(ctx, item, table.ItemNotExists())
		if !errors.Is(err, table.ErrConditionFailed) {
			return err
		}
		var stored ArtifactItem
		if _, err := records.Found(err, &stored); err != nil {
			return err
		}
		switch {
		case stored.Nonce == item.Nonce: // an earlier attempt succeeded and its answer was lost
			return nil
		case s.Now().After(deadline):
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
func (s *Store) dropContents(ctx context.Context, item *ArtifactItem) {
	if err := s.content.Discard(ctx, item.PK, item.Body); err != nil {
		s.Log.WarnContext(ctx, "chunks of a failed artifact stay until the session is deleted", "error", err)
	}
}

// DeleteArtifact implements artifact.Store: the next version is one that reads as
// deleted.
func (s *Store) DeleteArtifact(ctx context.Context, userID, sessionID, name string) error {
	h, err := s.sessions.Header(ctx, userID, sessionID)
	if err != nil {
		return err
	}
	on, rest := ScopeOf(h, name)
	item := &ArtifactItem{PK: on.PK, Created: s.Millis(), Nonce: s.NewLog(), Gone: true}
	if on.Log != "" {
		item.Gen = h.ForkCount
	}
	return records.Contended(ctx, func() error {
		stored, next, err := s.nextVersion(ctx, on, rest)
		if err != nil {
			return fmt.Errorf("delete artifact %q: %w", name, err)
		}
		switch {
		case stored != nil && stored.Nonce == item.Nonce:
			return nil
		case stored == nil || stored.Gone:
			return s.sessions.NotFoundIfDeleted(ctx, h, missingArtifact())
		case next > artifact.MaxVersion:
			return noNumberLeft()
		}
		item.SK = VersionSK(rest, next)
		return s.DB.Put(ctx, item, table.ItemNotExists())
	})
}

// RestoredVersion prepares the put by which a rewind restores a version of an
// artifact in its transaction: the next version points to it, or reads as deleted
// if version is -1 or does not exist itself.
func (s *Store) RestoredVersion(
	ctx context.Context, h *sessions.Header, name string, version int64,
) (put table.Write, newVersion int64, err error) {
	fail := func(err error) (table.Write, int64, error) {
		return table.Write{}, 0, fmt.Errorf("restore artifact %q: %w", name, err)
	}
	on, rest := ScopeOf(h, name)
	_, number, err := s.nextVersion(ctx, on, rest)
	if err != nil {
		return fail(err)
	}
	if number > artifact.MaxVersion {
		return fail(noNumberLeft())
	}
	var was *ArtifactItem
	if version >= 0 {
		if was, err = s.versionAt(ctx, on, rest, version); err != nil {
			return fail(err)
		}
	}
	next := &ArtifactItem{PK: on.PK, SK: VersionSK(rest, number), Created: s.Millis()}
	if on.Log != "" {
		next.Gen = h.ForkCount
	}
	if was == nil || was.Gone {
		next.Gone = true
	} else {
		next.follow(was)
		next.Restored = &version
	}
	return table.Put(next, table.ItemNotExists()), number, nil
}

func missingArtifact() error { return fault.Missing("Artifact") }

// InlineArtifact is how much of an artifact is stored in its version's item. Items
// of up to 4 KB cost one read unit, so looking for a number or listing versions
// does not pay for contents.
const InlineArtifact = 3 << 10

// PackBytes sets the contents of a version. The chunks are in the version's
// partition.
func (s *Store) PackBytes(ctx context.Context, item *ArtifactItem, plain []byte) error {
	encoded, err := s.content.EncodeBytes(plain)
	if err != nil {
		return err
	}
	if item.Body, err = s.content.PackEncoded(ctx, item.PK, encoded, InlineArtifact, 0); err != nil {
		return err
	}
	if item.Blob != "" {
		item.Chunked = int64(len(encoded))
	}
	return nil
}

// unpackBytes reads the contents of a version. Chunks never change, so they are
// read with eventual consistency at half price; if a lagging replica misses some,
// the length shows it and they are read again.
func (s *Store) unpackBytes(ctx context.Context, item *ArtifactItem) ([]byte, error) {
	encoded := item.Inline
	if item.Blob != "" {
		for _, consistent := range []bool{false, true} {
			var err error
			if encoded, err = s.content.ReadChunks(ctx, item.PK, item.Blob, consistent); err != nil {
				return nil, err
			}
			if int64(len(encoded)) == item.Chunked {
				break
			}
		}
		if int64(len(encoded)) != item.Chunked {
			return nil, records.ErrChunksGone
		}
	}
	plain, err := s.content.DecodeBytes(encoded, artifact.MaxSize)
	if err != nil {
		return nil, err
	}
	if int64(len(plain)) != item.Size {
		return nil, fmt.Errorf("artifact %s %s has %d bytes, not %d", item.PK, item.SK, len(plain), item.Size)
	}
	return plain, nil
}
