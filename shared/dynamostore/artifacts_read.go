package dynamostore

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/artifact"
)

// Artifact implements artifact.Store.
func (s *Store) Artifact(ctx context.Context, r artifact.Ref) (artifact.Version, []byte, error) {
	fail := func(err error) (artifact.Version, []byte, error) {
		return artifact.Version{}, nil, fmt.Errorf("read artifact %q of session %s: %w", r.Name, r.SessionID, err)
	}
	h, err := s.header(ctx, r.UserID, r.SessionID)
	if err != nil {
		return artifact.Version{}, nil, err
	}
	on, name := shelve(h, r.Name)
	var item *artifactItem
	if r.Version != nil {
		item, err = s.versionAt(ctx, on, name, *r.Version)
	} else {
		item, _, err = s.newest(ctx, on, name)
	}
	if err != nil {
		return fail(err)
	}
	if item == nil || item.Gone {
		return fail(missingArtifact())
	}
	v, err := on.version(h, item)
	if err != nil {
		return fail(err)
	}
	content, err := s.contents(ctx, item)
	if err != nil {
		return fail(err)
	}
	return v, content, nil
}

// contents reads the bytes of a version. Where they are gone a deletion is
// under way, and the version itself goes too.
func (s *Store) contents(ctx context.Context, item *artifactItem) ([]byte, error) {
	for try := 0; ; try++ {
		holder, err := s.followed(ctx, item)
		if err != nil {
			return nil, err
		}
		content, err := s.unpackBytes(ctx, holder)
		if !errors.Is(err, errChunksGone) || try == 3 {
			return content, err
		}
		if err := backoff(ctx, try); err != nil {
			return nil, err
		}
		found, err := s.get(ctx, key{item.PK, item.SK}, &artifactItem{})
		switch {
		case err != nil:
			return nil, err
		case !found:
			return nil, missingArtifact()
		}
	}
}
