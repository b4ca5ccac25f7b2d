package artifacts

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// Artifact implements artifact.Store.
func (s *Store) Artifact(ctx context.Context, r artifact.Ref) (artifact.Version, []byte, error) {
	h, err := s.sessions.Header(ctx, r.UserID, r.SessionID)
	if err != nil {
		return artifact.Version{}, nil, err
	}
	v, content, err := s.artifact(ctx, h, r)
	if err != nil {
		return artifact.Version{}, nil, fmt.Errorf("read artifact %q of session %s: %w", r.Name, r.SessionID, s.sessions.NotFoundIfDeleted(ctx, h, err))
	}
	return v, content, nil
}

func (s *Store) artifact(ctx context.Context, h *sessions.Header, r artifact.Ref) (v artifact.Version, content []byte, err error) {
	on, name := ScopeOf(h, r.Name)
	var item *ArtifactItem
	if r.Version != nil {
		item, err = s.versionAt(ctx, on, name, *r.Version)
	} else {
		if item, _, err = s.Newest(ctx, on, name); err == nil && on.Log != "" {
			err = s.logs.CheckExists(ctx, h.Log) // a newer one may have been deleted with the session
		}
	}
	if err != nil {
		return v, nil, err
	}
	if item == nil || item.Gone {
		return v, nil, missingArtifact()
	}
	if v, err = on.version(h, item); err != nil {
		return v, nil, err
	}
	content, err = s.Contents(ctx, item)
	return v, content, err
}

// SettleTries is how often concurrently changed items are read before they count as
// inconsistent.
const SettleTries = 4

// Contents reads the bytes of a version. If they are missing, a deletion is under
// way and the version itself will be gone too.
func (s *Store) Contents(ctx context.Context, item *ArtifactItem) ([]byte, error) {
	tries := 0
	return records.SettledValue(ctx, func() ([]byte, error) {
		if tries++; tries > 1 {
			if err := s.versionThere(ctx, item); err != nil {
				return nil, err
			}
		}
		holder, err := s.followed(ctx, item)
		if err != nil {
			return nil, err
		}
		data, err := s.unpackBytes(ctx, holder)
		if errors.Is(err, records.ErrChunksGone) && tries < SettleTries {
			err = fmt.Errorf("%w: %w", err, retry.ErrAgain)
		}
		return data, err
	})
}

// versionThere checks that a version is still stored.
func (s *Store) versionThere(ctx context.Context, item *ArtifactItem) error {
	found, err := s.DB.Get(ctx, table.NewKey(item.PK, item.SK), &ArtifactItem{})
	if err == nil && !found {
		err = missingArtifact()
	}
	return err
}
