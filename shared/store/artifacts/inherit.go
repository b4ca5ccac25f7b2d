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
	"github.com/rethread/rethread/shared/store/content"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// A fork takes over the artifacts of its source without copying them: an item of
// its log says which log contains the versions of each artifact, up to which
// number. The fork's own versions have higher numbers.

// InheritedItem lists what a fork's log inherits, by name.
type InheritedItem struct {
	PK string `dynamodbav:"PK"`
	SK string `dynamodbav:"SK"`
	content.Body
}

// InheritedArtifact is the log that contains the versions of an artifact up to a
// number. That log may inherit some of them in turn.
type InheritedArtifact struct {
	Log     string `json:"l"`
	Version int64  `json:"v"`
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

// source is a scope with the versions up to a number.
type source struct {
	ArtifactScope
	UpTo int64
}

func (s ArtifactScope) all() *source { return &source{s, artifact.MaxVersion} }

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
	return &source{SessionScope(from.Log), min(from.Version, src.UpTo)}, nil
}

// Sources returns all sources of an artifact's versions, the session's own first.
func (s *Store) Sources(ctx context.Context, on ArtifactScope, name string) ([]*source, error) {
	var all []*source
	for src := on.all(); src != nil; {
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
			src := &source{SessionScope(from.Log), min(from.Version, artifact.MaxVersion)}
			found[i].item, _, err = s.newestInSource(ctx, src, found[i].name)
			if errors.Is(err, table.ErrUnreadable) {
				s.LeftOut(ctx, table.NewKey(keys.LogPK(from.Log), artifactPrefix(found[i].name)), err)
				return nil
			}
			return err
		})
	}
	return found, more, group.Wait()
}

// InheritedVersions returns, for each artifact that the state names, the log in
// which the fork finds its versions: the source's log, or the log that the source
// itself inherits them from, so that chains do not grow. An event may name a
// version that was never stored; a version that the source stores under that
// number later does not belong to the fork.
func (s *Store) InheritedVersions(
	ctx context.Context, log string, values session.Values,
) (map[string]InheritedArtifact, error) {
	named := map[string]int64{}
	for key, v := range values {
		if name, ok := session.ArtifactOf(key); ok && !Impossible(key) {
			var err error
			if named[name], err = strconv.ParseInt(string(v), 10, 64); err != nil {
				return nil, fmt.Errorf("version of artifact %s: %w", name, err)
			}
		}
	}
	out := map[string]InheritedArtifact{}
	if len(named) == 0 {
		return out, nil
	}
	before, err := s.inheritedArtifacts(ctx, log)
	if err != nil {
		return nil, err
	}
	for name, version := range named {
		from, taken := before[name]
		if taken {
			out[name] = InheritedArtifact{Log: from.Log, Version: min(version, from.Version)}
		}
		if taken && version <= from.Version {
			continue
		}
		own, err := s.newestUpTo(ctx, keys.LogPK(log), name, version)
		if err != nil {
			return nil, err
		}
		if own != nil {
			_, number, err := own.NameAndVersion()
			if err != nil {
				return nil, err
			}
			out[name] = InheritedArtifact{Log: log, Version: number}
		}
	}
	return out, nil
}
