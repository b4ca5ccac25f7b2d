package history

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/artifacts"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// restore is what a rewind changes besides the timeline.
type restore struct {
	Change    *eventlog.StateChange
	delta     session.Delta // the restored values
	conflicts []string
	Puts      []table.Write
}

// planRestore compares the state with that before the target. also is the changes
// that will be made on top.
func (s *Store) planRestore(
	ctx context.Context, h *sessions.Header, head eventlog.Head, target *sessions.LogPosition, r session.Rewind, also []session.Delta,
) (*restore, error) {
	then, err := s.sessions.UndoTo(ctx, h, head, target)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(then, func(key string, _ json.RawMessage) bool { return artifacts.Impossible(key) })
	plan := &restore{}
	if len(then) == 0 && !slices.ContainsFunc(also, func(d session.Delta) bool { return len(d) > 0 }) {
		plan.Change = &eventlog.StateChange{SessionID: h.ID()}
		return plan, nil
	}
	if plan.Change, err = s.logs.LoadStates(ctx, h.OfLog(), head, append([]session.Delta{then}, also...)...); err != nil {
		return nil, err
	}
	if head.OlderThan(h.OfLog(), plan.Change.AsOf) {
		return nil, table.ErrConditionFailed
	}
	plan.delta, plan.conflicts = r.Restored(then, plan.Change.Current)
	return plan, s.planArtifacts(ctx, h, plan)
}

// planArtifacts replaces the versions to be restored by new versions that refer
// to them, because version numbers only grow.
func (s *Store) planArtifacts(ctx context.Context, h *sessions.Header, plan *restore) error {
	versions, err := plan.delta.Versions(maxRestored)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		put, next, err := s.artifacts.RestoredVersion(ctx, h, name, versions[name])
		if err != nil {
			return err
		}
		plan.Puts = append(plan.Puts, put)
		plan.delta[session.ArtifactKey(name)] = json.RawMessage(strconv.FormatInt(next, 10))
	}
	return nil
}
