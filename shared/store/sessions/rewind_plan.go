package sessions

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/table"
)

// restore is what a rewind changes besides the timeline.
type restore struct {
	change    *stateChange
	delta     session.Delta // the restored values
	conflicts []string
	puts      []table.Write
}

// planRestore compares the state with that before the target. also is the changes
// that will be made on top.
func (s *Store) planRestore(
	ctx context.Context, h *header, at head, target *logPosition, r session.Rewind, also []session.Delta,
) (*restore, error) {
	then, err := s.undoTo(ctx, h, at, target)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(then, func(key string, _ json.RawMessage) bool { return impossible(key) })
	plan := &restore{}
	if len(then) == 0 && !slices.ContainsFunc(also, func(d session.Delta) bool { return len(d) > 0 }) {
		plan.change = &stateChange{sessionID: h.id()}
		return plan, nil
	}
	if plan.change, err = s.loadStates(ctx, h.ofLog(), at, append([]session.Delta{then}, also...)...); err != nil {
		return nil, err
	}
	if at.olderThan(h.ofLog(), plan.change.asOf) {
		return nil, table.ErrConditionFailed
	}
	plan.delta, plan.conflicts = r.Restored(then, plan.change.current)
	return plan, s.planArtifacts(ctx, h, plan)
}

// impossible reports whether a key stands for an artifact with a name that no artifact
// can have. Events may name those, but there is nothing to restore: a rewind neither
// restores them nor reports them as conflicts.
func impossible(key string) bool {
	name, ok := session.ArtifactOf(key)
	return ok && artifact.CheckName("", name) != nil
}

// planArtifacts replaces the versions to be restored by new versions that refer
// to them, because version numbers only grow.
func (s *Store) planArtifacts(ctx context.Context, h *header, plan *restore) error {
	versions, err := plan.delta.Versions(maxRestored)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		put, next, err := s.restoredVersion(ctx, h, name, versions[name])
		if err != nil {
			return err
		}
		plan.puts = append(plan.puts, put)
		plan.delta[session.ArtifactKey(name)] = json.RawMessage(strconv.FormatInt(next, 10))
	}
	return nil
}
