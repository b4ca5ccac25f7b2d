package artifacts

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/rethread/rethread/shared/base/fault"
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

// ArtifactVersions implements artifact.Store. Versions that read as deleted are
// left out.
func (s *Store) ArtifactVersions(ctx context.Context, q artifact.VersionQuery) (artifact.Page, error) {
	h, err := s.sessions.Header(ctx, q.UserID, q.SessionID)
	if err != nil {
		return artifact.Page{}, err
	}
	from := int64(0)
	if q.After != "" {
		if from, err = strconv.ParseInt(q.After, 10, 64); err != nil || from < 0 || from > artifact.MaxVersion {
			return artifact.Page{}, fault.Field(fault.InvalidCursor, "cursor", "was not given by this list")
		}
		from++
	}
	on, name := ScopeOf(h, q.Name)
	sources, err := s.Sources(ctx, on, name)
	v := versionList{s: s, h: h, on: on, name: name, limit: q.Limit}
	for i := len(sources) - 1; i >= 0 && err == nil && v.page.Next == ""; i-- {
		err = v.read(ctx, sources[i], from)
		from = max(from, sources[i].UpTo+1)
	}
	if err == nil {
		err = s.logs.CheckExists(ctx, h.Log)
	}
	switch {
	case err != nil:
		return artifact.Page{}, fmt.Errorf("list versions of artifact %q: %w", q.Name, s.sessions.NotFoundIfDeleted(ctx, h, err))
	case len(v.page.Versions) == 0 && q.After == "":
		return artifact.Page{}, missingArtifact()
	}
	return v.page, nil
}

// versionList collects a page of versions.
type versionList struct {
	s     *Store
	h     *sessions.Header
	on    ArtifactScope
	name  string
	limit int
	page  artifact.Page
}

// read adds the versions of a source from a number on.
func (l *versionList) read(ctx context.Context, src *source, from int64) error {
	if from > src.UpTo {
		return nil
	}
	q := records.Range(src.PK, VersionSK(l.name, from), VersionSK(l.name, src.UpTo), true)
	q.Limit = l.limit - len(l.page.Versions) + 1
	return l.s.DB.Pages(ctx, q, func(items []table.Item) (bool, error) {
		for _, attrs := range items {
			item, err := DecodeArtifact(attrs)
			if err != nil {
				l.s.LeftOut(ctx, records.KeyOf(attrs), err)
				continue
			}
			if err := l.add(item); err != nil || l.page.Next != "" {
				return false, err
			}
		}
		return true, nil
	})
}

func (l *versionList) add(item *ArtifactItem) error {
	if item.Gone {
		return nil
	}
	if n := len(l.page.Versions); n == l.limit {
		l.page.Next = strconv.FormatInt(l.page.Versions[n-1].Version, 10)
		return nil
	}
	v, err := l.on.version(l.h, item)
	l.page.Versions = append(l.page.Versions, v)
	return err
}
