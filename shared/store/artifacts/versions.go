package artifacts

import (
	"context"
	"fmt"
	"strconv"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

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
