package artifacts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// ListBatch is how many items a list reads at once. It takes one more read to skip
// an artifact with more versions than that.
const ListBatch = 100

// endOfArtifacts sorts after every version in a partition.
const endOfArtifacts = "A$"

// Artifacts implements artifact.Store: the session's artifacts by name, then
// the shared ones.
func (s *Store) Artifacts(ctx context.Context, q artifact.Query) (artifact.Page, error) {
	h, err := s.sessions.Header(ctx, q.UserID, q.SessionID)
	if err != nil {
		return artifact.Page{}, err
	}
	l := artifactList{s: s, h: h, limit: q.Limit}
	after, shared := strings.CutPrefix(q.After, artifact.UserPrefix)
	if !shared {
		err = l.read(ctx, SessionScope(h.Log), after)
		after = ""
	}
	if err == nil {
		err = l.read(ctx, UserScope(h), after)
	}
	if err == nil {
		err = s.logs.CheckExists(ctx, h.Log)
	}
	if err != nil {
		return artifact.Page{}, fmt.Errorf("list artifacts of session %s: %w", q.SessionID, s.sessions.NotFoundIfDeleted(ctx, h, err))
	}
	return l.page, nil
}

// artifactList collects a page of artifacts.
type artifactList struct {
	s     *Store
	h     *sessions.Header
	limit int
	page  artifact.Page
}

func (l *artifactList) full() bool { return l.page.Next != "" }

// read adds the artifacts of a scope whose names are after one name.
func (l *artifactList) read(ctx context.Context, on ArtifactScope, after string) error {
	for !l.full() {
		batch, err := l.s.NewestBatch(ctx, on, after, l.limit-len(l.page.Versions)+1)
		if err != nil {
			return err
		}
		for _, item := range batch.Items {
			if err := l.add(on, item); err != nil {
				return err
			}
		}
		if after = batch.Next; after == "" {
			return nil
		}
	}
	return nil
}

// add adds an item to the page; one more than the page holds means that there is a
// next page.
func (l *artifactList) add(on ArtifactScope, item *ArtifactItem) error {
	if item.Gone || l.full() {
		return nil
	}
	if n := len(l.page.Versions); n == l.limit {
		l.page.Next = l.page.Versions[n-1].Name
		return nil
	}
	v, err := on.version(l.h, item)
	l.page.Versions = append(l.page.Versions, v)
	return err
}

// newestBatch is the latest versions of some artifacts of a scope, by name, deleted
// ones included. next is the name to continue after, "" at the end.
type newestBatch struct {
	Items []*ArtifactItem
	Next  string
}

// NewestBatch reads the latest versions of about limit artifacts.
func (s *Store) NewestBatch(ctx context.Context, on ArtifactScope, after string, limit int) (newestBatch, error) {
	own, err := s.ownNewest(ctx, on, after)
	if err != nil {
		return newestBatch{}, err
	}
	names := map[string]bool{}
	for _, item := range own.Items {
		name, _, err := item.NameAndVersion()
		if err != nil {
			return newestBatch{}, err
		}
		names[name] = true
	}
	inherited, more, err := s.inheritedNewest(ctx, on, after, own.Next, names, limit)
	if err != nil {
		return newestBatch{}, err
	}
	return merge(own, inherited, more)
}

// merge merges own and inherited artifacts by name. If the inherited ones were cut
// off, own ones after the cut are left for the next batch.
func merge(own newestBatch, inherited []inheritedVersion, more bool) (newestBatch, error) {
	if more {
		own.Next = inherited[len(inherited)-1].name
	}
	out := newestBatch{Next: own.Next}
	for _, item := range own.Items {
		name, _, err := item.NameAndVersion()
		if err != nil {
			return newestBatch{}, err
		}
		if !more || compareNames(name, own.Next) <= 0 {
			out.Items = append(out.Items, item)
		}
	}
	for _, i := range inherited {
		if i.item != nil {
			out.Items = append(out.Items, i.item)
		}
	}
	slices.SortFunc(out.Items, func(a, b *ArtifactItem) int { return strings.Compare(a.SK, b.SK) })
	return out, nil
}

// compareNames orders names as the table does: by the keys of their versions.
func compareNames(a, b string) int { return strings.Compare(artifactPrefix(a), artifactPrefix(b)) }

// ownNewest continues in a partition: it reads the latest version of each artifact
// that the next ListBatch items belong to.
func (s *Store) ownNewest(ctx context.Context, on ArtifactScope, after string) (newestBatch, error) {
	var out newestBatch
	q := records.Range(on.PK, keys.PrefixArtifact, endOfArtifacts, true)
	if after != "" {
		q.From = artifactPrefix(after) + "~" // after its last version
	}
	q.Limit = ListBatch
	page, err := s.DB.Query(ctx, q)
	if err != nil {
		return out, err
	}
	last := ""
	for _, attrs := range page.Items {
		item, err := DecodeArtifact(attrs)
		if err != nil {
			s.LeftOut(ctx, records.KeyOf(attrs), err)
			continue
		}
		name, _, err := item.NameAndVersion()
		if err != nil {
			s.LeftOut(ctx, records.KeyOf(attrs), err)
			continue
		}
		if name == last {
			out.Items[len(out.Items)-1] = item
			continue
		}
		out.Items, last = append(out.Items, item), name
	}
	if page.Next == nil || len(out.Items) == 0 {
		return out, nil
	}
	out.Next = last // its versions may continue after the page
	item, err := s.newestUpTo(ctx, on.all(), last)
	if errors.Is(err, table.ErrUnreadable) { // the latest readable version is used
		s.LeftOut(ctx, table.NewKey(on.PK, artifactPrefix(last)), err)
		return out, nil
	}
	if err == nil && item != nil {
		out.Items[len(out.Items)-1] = item
	}
	return out, err
}
