package artifacts

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// pointAt makes an item a reference to a version that the user can read now. The
// target exists before the reference, so there are no cycles.
func (s *Store) pointAt(ctx context.Context, h *sessions.Header, item *ArtifactItem, t artifact.Target) error {
	from := h
	if t.SessionID != "" && t.SessionID != h.ID() {
		var err error
		if from, err = s.sessions.Header(ctx, h.User, t.SessionID); err != nil {
			if errors.Is(err, fault.Of(fault.NotFound)) || errors.Is(err, fault.Of(fault.Forbidden)) {
				return badTarget("is in a session that is not there or not yours")
			}
			return err
		}
		if from.App != h.App {
			return badTarget("is in a session of another app")
		}
	}
	on, name := ScopeOf(from, t.Name)
	target, err := s.versionAt(ctx, on, name, t.Version)
	if err != nil {
		return fmt.Errorf("read the target of a reference: %w", err)
	}
	if target == nil || target.Gone {
		return badTarget("is not there")
	}
	item.follow(target)
	item.URI = t.URI()
	return nil
}

// follow points to an item or, if that is a pointer itself, to its target.
func (i *ArtifactItem) follow(target *ArtifactItem) {
	i.Mime, i.Size = target.Mime, target.Size
	at := table.NewKey(target.PK, target.SK)
	if target.TargetSK != "" {
		at = target.target()
	}
	i.TargetSK = at.SK
	if at.PK != i.PK {
		i.TargetPK = at.PK
	}
}

// target returns the key of the item that a pointer points to.
func (i *ArtifactItem) target() table.Key {
	if i.TargetPK == "" {
		return table.NewKey(i.PK, i.TargetSK)
	}
	return table.NewKey(i.TargetPK, i.TargetSK)
}

// followed returns the item with the contents of a version.
func (s *Store) followed(ctx context.Context, item *ArtifactItem) (*ArtifactItem, error) {
	if item.TargetSK == "" {
		return item, nil
	}
	var target ArtifactItem
	found, err := s.DB.Get(ctx, item.target(), &target)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, targetGone()
	}
	return &target, nil
}

func badTarget(what string) error {
	f := fault.Field(fault.InvalidReference, "", "must name a version that you can read: the one it names %s", what)
	f.Detail = "the reference " + f.Violations[0].Detail
	return f
}

func targetGone() error {
	return fault.New(fault.ReferenceBroken, "The artifact refers to a version that is not there any more")
}
