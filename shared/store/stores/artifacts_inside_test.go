package stores_test

import (
	"context"

	"github.com/rethread/rethread/shared/store/artifacts"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
)

// restoreVersion carries out the write by which a rewind restores one artifact.
func restoreVersion(ctx context.Context, s *stores.Store, id, name string, version int64) (int64, error) {
	h, err := s.Sessions.Header(ctx, alice, id)
	if err != nil {
		return 0, err
	}
	put, next, err := s.Artifacts.RestoredVersion(ctx, h, name, version)
	if err != nil {
		return 0, err
	}
	return next, s.Sessions.DB.Transact(ctx, put)
}

// inherit makes a session's log inherit artifacts from another's, by name up to a
// version, like a fork.
func inherit(ctx context.Context, s *stores.Store, user, id, from string, upTo map[string]int64) error {
	h, err := s.Sessions.Header(ctx, user, id)
	if err != nil {
		return err
	}
	source, err := s.Sessions.Header(ctx, user, from)
	if err != nil {
		return err
	}
	all := map[string]artifacts.InheritedArtifact{}
	for name, version := range upTo {
		all[name] = artifacts.InheritedArtifact{Log: source.Log, Version: version}
	}
	item, err := s.Artifacts.Inheriting(ctx, h.Log, all)
	if err != nil {
		return err
	}
	return s.Sessions.DB.Put(ctx, item)
}

// partition lists the sort keys of the artifacts in a session's log.
func partition(ctx context.Context, s *stores.Store, user, id string) ([]string, error) {
	h, err := s.Sessions.Header(ctx, user, id)
	if err != nil {
		return nil, err
	}
	on := artifacts.SessionScope(h.Log)
	var names []string
	for _, prefix := range []string{keys.PrefixArtifact, keys.PrefixBlob} {
		err = s.Sessions.DB.Pages(ctx, records.Prefix(on.PK, prefix, true), func(items []table.Item) (bool, error) {
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
