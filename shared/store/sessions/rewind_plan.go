package sessions

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/table"
)

// restore is what a rewind changes besides the timeline.
type restore struct {
	change    *stateChange
	delta     session.Delta // of all that comes back
	conflicts []string
	artifacts map[string]int64
	puts      []table.Write
}

// planRestore compares the state with what it was before the target. Also are
// changes that will be made on top.
func (s *Store) planRestore(
	ctx context.Context, h *header, at head, target *place, r session.Rewind, also []session.Delta,
) (*restore, error) {
	then, err := s.undoneTo(ctx, h, at, target)
	if err != nil {
		return nil, err
	}
	plan := &restore{delta: session.Delta{}, artifacts: map[string]int64{}}
	if plan.change, err = s.loadStates(ctx, h, at, append([]session.Delta{then}, also...)...); err != nil {
		return nil, err
	}
	if at.olderThan(h, plan.change.asOf) {
		return nil, table.ErrConditionFailed
	}
	for _, key := range slices.Sorted(maps.Keys(then)) {
		scope, name := session.ScopeOf(key)
		current, by := plan.change.current(scope, name)
		if !r.Has(scope) || sameValue(current, then[key]) {
			continue
		}
		if by != "" && by != h.id() && !r.Restore {
			plan.conflicts = append(plan.conflicts, shownKey(key))
			continue
		}
		plan.delta[key] = then[key]
	}
	return plan, s.planArtifacts(ctx, h, plan)
}

// planArtifacts turns versions to go back to into new versions that refer to
// them: numbers only grow.
func (s *Store) planArtifacts(ctx context.Context, h *header, plan *restore) error {
	for key, then := range plan.delta {
		name, ok := session.ArtifactOf(key)
		if !ok {
			continue
		}
		if len(plan.artifacts) == maxRestored {
			return fault.New(fault.Invalid, "more than %d artifacts would be restored at once", maxRestored)
		}
		version := int64(-1)
		if !session.IsNull(then) {
			var err error
			if version, err = strconv.ParseInt(string(then), 10, 64); err != nil {
				return fmt.Errorf("version of artifact %s: %w", name, err)
			}
		}
		put, next, err := s.restoredVersion(ctx, h, name, version)
		if err != nil {
			return err
		}
		plan.artifacts[name] = next
		plan.puts = append(plan.puts, put)
		plan.delta[key] = json.RawMessage(strconv.FormatInt(next, 10))
	}
	return nil
}

// shownKey is a state key as callers know it; artifacts go by their name.
func shownKey(key string) string {
	if name, ok := session.ArtifactOf(key); ok {
		return name
	}
	return key
}

func sameValue(a, b json.RawMessage) bool {
	if session.IsNull(a) || session.IsNull(b) {
		return session.IsNull(a) && session.IsNull(b)
	}
	return bytes.Equal(a, b)
}
