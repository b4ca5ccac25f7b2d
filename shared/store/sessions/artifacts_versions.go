package sessions

import (
	"context"
	"fmt"
	"strconv"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// ArtifactVersions implements artifact.Store. Versions that read as deleted are
// left out.
func (s *Store) ArtifactVersions(ctx context.Context, q artifact.VersionQuery) (artifact.Page, error) {
	h, err := s.header(ctx, q.UserID, q.SessionID)
	if err != nil {
		return artifact.Page{}, err
	}
	from := int64(0)
	if q.After != "" {
		if from, err = strconv.ParseInt(q.After, 10, 64); err != nil || from < 0 || from > artifact.MaxVersion {
			return artifact.Page{}, fault.Field(fault.Malformed, "cursor", "was not given by this list")
		}
		from++
	}
	on, name := scopeOf(h, q.Name)
	sources, err := s.sources(ctx, on, name)
	v := versionList{s: s, h: h, on: on, name: name, limit: q.Limit}
	for i := len(sources) - 1; i >= 0 && err == nil && v.page.Next == ""; i-- {
		err = v.read(ctx, sources[i], from)
		from = max(from, sources[i].upTo+1)
	}
	if err == nil {
		err = s.checkExists(ctx, h.Log)
	}
	switch {
	case err != nil:
		return artifact.Page{}, fmt.Errorf("list versions of artifact %q: %w", q.Name, s.notFoundIfDeleted(ctx, h, err))
	case len(v.page.Versions) == 0 && q.After == "":
		return artifact.Page{}, missingArtifact()
	}
	return v.page, nil
}

// versionList collects a page of versions.
type versionList struct {
	s     *Store
	h     *header
	on    artifactScope
	name  string
	limit int
	page  artifact.Page
}

// read adds the versions of a source from a number on.
func (l *versionList) read(ctx context.Context, src *source, from int64) error {
	if from > src.upTo {
		return nil
	}
	q := records.Range(src.pk, artifactSK(l.name, from), artifactSK(l.name, src.upTo), true)
	q.Limit = l.limit - len(l.page.Versions) + 1
	return l.s.db.Pages(ctx, q, func(items []table.Item) (bool, error) {
		for _, attrs := range items {
			item, err := decodeArtifact(attrs)
			if err != nil {
				l.s.Base().LeftOut(ctx, records.KeyOf(attrs), err)
				continue
			}
			if err := l.add(item); err != nil || l.page.Next != "" {
				return false, err
			}
		}
		return true, nil
	})
}

func (l *versionList) add(item *artifactItem) error {
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
