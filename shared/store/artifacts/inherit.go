package artifacts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// A fork takes over the artifacts of its source without copying or reading them: an item
// of its log says which log contains the versions of each artifact, up to which
// number. The fork's own versions have higher numbers.

// InheritedItem lists what a fork's log inherits, by name.
type InheritedItem struct {
	PK string `dynamodbav:"PK"`
	SK string `dynamodbav:"SK"`
	records.Body
	Changes int64 `dynamodbav:"v,omitempty"` // how often it was changed
}

const inheritedChanges = "v"

// InheritedArtifact is the log that contains the versions of an artifact up to a
// number, of those that it had when it was forked for the Gen-th time. That log may
// inherit some of them in turn. Without Gen, Version is one that is stored.
type InheritedArtifact struct {
	Log     string `json:"l"`
	Version int64  `json:"v"`
	Gen     int64  `json:"g,omitempty"`
}

// Inheriting returns the item by which a log inherits artifacts.
func (s *Store) Inheriting(ctx context.Context, log string, all map[string]InheritedArtifact) (*InheritedItem, error) {
	k := keys.InheritedKey(log)
	item := &InheritedItem{PK: k.PK, SK: k.SK}
	var err error
	item.Body, err = s.content.Pack(ctx, k.PK, all, 0)
	return item, err
}

// inheritedArtifacts reads what a log inherits, by name.
func (s *Store) inheritedArtifacts(ctx context.Context, log string) (map[string]InheritedArtifact, error) {
	var item InheritedItem
	found, err := s.DB.Get(ctx, keys.InheritedKey(log), &item)
	if err != nil || !found {
		return nil, err
	}
	var all map[string]InheritedArtifact
	if err := s.content.Unpack(ctx, item.PK, item.Body, &all); err != nil {
		return nil, fmt.Errorf("inherited artifacts of log %s: %w", log, err)
	}
	return all, nil
}

// source is a scope with the versions up to a number; with Gen, those that the fork of
// that generation has.
type source struct {
	ArtifactScope
	UpTo int64
	Gen  int64
}

func (s ArtifactScope) all() *source { return &source{ArtifactScope: s, UpTo: artifact.MaxVersion} }

// in is the source for an artifact that is inherited by another.
func (a InheritedArtifact) in(by *source) *source {
	return &source{SessionScope(a.Log), min(a.Version, by.UpTo), a.Gen}
}

// has reports whether a version in its partition is one of the source's.
func (s *source) has(item *ArtifactItem) bool { return s.Gen == 0 || item.Gen < s.Gen }

// inheritedFrom returns the source that a source inherits an artifact from, nil for
// none.
func (s *Store) inheritedFrom(ctx context.Context, src *source, name string) (*source, error) {
	if src.Log == "" {
		return nil, nil
	}
	all, err := s.inheritedArtifacts(ctx, src.Log)
	if err != nil {
		return nil, err
	}
	from, ok := all[name]
	if !ok {
		return nil, nil
	}
	return from.in(src), nil
}

// Sources returns all sources of an artifact's versions, the session's own first.
func (s *Store) Sources(ctx context.Context, on ArtifactScope, name string) ([]*source, error) {
	var all []*source
	for src := on.all(); src != nil; {
		if src.Gen > 0 {
			last, err := s.newestUpTo(ctx, src, name)
			if err != nil {
				return nil, err
			}
			if src.UpTo = -1; last != nil {
				if _, src.UpTo, err = last.NameAndVersion(); err != nil {
					return nil, err
				}
			}
		}
		all = append(all, src)
		var err error
		if src, err = s.inheritedFrom(ctx, src, name); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// inheritedVersion is the latest version of an inherited artifact; nil if the
// source has none.
type inheritedVersion struct {
	name string
	item *ArtifactItem
}

// inheritedNewest reads the latest versions of up to limit inherited artifacts
// whose names are after one name, and not after another unless that is "". It
// leaves out artifacts with versions in the log itself. more says that the limit
// left names out.
func (s *Store) inheritedNewest(
	ctx context.Context, on ArtifactScope, after, upTo string, own map[string]bool, limit int,
) (found []inheritedVersion, more bool, err error) {
	if on.Log == "" {
		return nil, false, nil
	}
	all, err := s.inheritedArtifacts(ctx, on.Log)
	if err != nil {
		return nil, false, err
	}
	for _, name := range slices.SortedFunc(maps.Keys(all), compareNames) {
		if own[name] || after != "" && compareNames(name, after) <= 0 || upTo != "" && compareNames(name, upTo) > 0 {
			continue
		}
		if len(found) == limit {
			more = true
			break
		}
		found = append(found, inheritedVersion{name: name})
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(records.Parallel)
	for i := range found {
		group.Go(func() (err error) {
			from := all[found[i].name]
			found[i].item, _, err = s.newestInSource(ctx, from.in(on.all()), found[i].name)
			if errors.Is(err, table.ErrUnreadable) {
				s.LeftOut(ctx, table.NewKey(keys.LogPK(from.Log), artifactPrefix(found[i].name)), err)
				return nil
			}
			return err
		})
	}
	return found, more, group.Wait()
}

// InheritedVersions returns, for each artifact that the state of a log names, the log in
// which its fork of a generation finds the versions: that log, or the one that it
// inherits them from itself, so that chains do not grow. An event may name a
// version that was never stored; a version that the source stores under that
// number later does not belong to the fork.
func (s *Store) InheritedVersions(
	ctx context.Context, log string, gen int64, values session.Values,
) (map[string]InheritedArtifact, error) {
	out := map[string]InheritedArtifact{}
	for key, v := range values {
		if name, ok := session.ArtifactOf(key); ok && !Impossible(key) {
			version, err := strconv.ParseInt(string(v), 10, 64)
			if err != nil {
				return nil, fmt.Errorf("version of artifact %s: %w", name, err)
			}
			out[name] = InheritedArtifact{Log: log, Version: version, Gen: gen}
		}
	}
	if len(out) == 0 {
		return out, nil
	}
	before, err := s.inheritedArtifacts(ctx, log)
	for name, from := range before {
		if named, ok := out[name]; ok && named.Version <= from.Version {
			out[name] = InheritedArtifact{Log: from.Log, Version: named.Version, Gen: from.Gen}
		}
	}
	return out, err
}

// nextVersion reads the latest version of an artifact for a writer, and returns the number of
// the next. If a fork inherits a name whose version its source had not stored, the fork's
// own versions begin below the number that was named: that is noted first.
func (s *Store) nextVersion(ctx context.Context, on ArtifactScope, name string) (*ArtifactItem, int64, error) {
	newest, top, err := s.Newest(ctx, on, name)
	if err != nil || on.Log == "" || newest != nil && newest.PK == on.PK {
		return newest, top + 1, err
	}
	err = records.Contended(ctx, func() error { return s.inheritUpTo(ctx, on.Log, name, top) })
	return newest, top + 1, err
}

// inheritUpTo limits what a fork inherits of an artifact to the versions up to a number, -1
// for none.
func (s *Store) inheritUpTo(ctx context.Context, log, name string, number int64) error {
	var item InheritedItem
	found, err := s.DB.Get(ctx, keys.InheritedKey(log), &item)
	if err != nil || !found {
		return err
	}
	was := item.Body
	var all map[string]InheritedArtifact
	if err := s.content.Unpack(ctx, item.PK, was, &all); err != nil {
		return fmt.Errorf("inherited artifacts of log %s: %w", log, err)
	}
	from, ok := all[name]
	if !ok || from.Version <= number {
		return nil
	}
	if from.Version = number; number < 0 {
		delete(all, name)
	} else {
		all[name] = from
	}
	next, err := s.Inheriting(ctx, log, all)
	if err != nil {
		return err
	}
	next.Changes = item.Changes + 1
	if err := s.DB.Put(ctx, next, records.Unchanged(inheritedChanges, item.Changes)); err != nil {
		return errors.Join(err, s.content.Discard(ctx, next.PK, next.Body))
	}
	return s.content.Discard(ctx, item.PK, was)
}
