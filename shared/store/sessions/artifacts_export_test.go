package sessions

import (
	"context"

	"github.com/rethread/rethread/shared/store/keys"

	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// RestoreVersion carries out the write by which a rewind restores one artifact.
func (s *Store) RestoreVersion(ctx context.Context, user, id, name string, version int64) (int64, error) {
	h, err := s.header(ctx, user, id)
	if err != nil {
		return 0, err
	}
	put, next, err := s.restoredVersion(ctx, h, name, version)
	if err != nil {
		return 0, err
	}
	return next, s.db.Transact(ctx, put)
}

// Inherit makes a session's log inherit artifacts from another's, by name up to a
// version, like a fork.
func (s *Store) Inherit(ctx context.Context, user, id, from string, upTo map[string]int64) error {
	h, err := s.header(ctx, user, id)
	if err != nil {
		return err
	}
	source, err := s.header(ctx, user, from)
	if err != nil {
		return err
	}
	all := map[string]inheritedArtifact{}
	for name, version := range upTo {
		all[name] = inheritedArtifact{Log: source.Log, Version: version}
	}
	k := keys.InheritedKey(h.Log)
	item := inheritedItem{PK: k.PK, SK: k.SK}
	if item.Body, err = s.content.Pack(ctx, k.PK, all, 0); err != nil {
		return err
	}
	return s.db.Put(ctx, item)
}

// Partition lists the sort keys of the artifacts in a session's log.
func (s *Store) Partition(ctx context.Context, user, id string) ([]string, error) {
	h, err := s.header(ctx, user, id)
	if err != nil {
		return nil, err
	}
	on := sessionScope(h.Log)
	var names []string
	for _, prefix := range []string{keys.PrefixArtifact, keys.PrefixBlob} {
		err = s.db.Pages(ctx, records.Prefix(on.pk, prefix, true), func(items []table.Item) (bool, error) {
			for _, attrs := range items {
				names = append(names, table.Text(attrs, table.SK))
			}
			return true, nil
		})
		if err != nil {
			return nil, err
		}
	}
	return names, nil
}
