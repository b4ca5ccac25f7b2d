package archives

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/artifacts"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// otherSession stands for the session that changed a shared value last, if that
// was not the imported one. No session has such an id.
const otherSession = "/"

// commit makes a document visible: one transaction writes the session's header
// and the shared values, and ends the import.
func (w *importing) commit(ctx context.Context) (archive.Progress, error) {
	if err := w.s.sessions.AdmitSession(ctx, w.u.UserID); err != nil {
		return archive.Progress{}, err
	}
	h, err := w.header()
	if err != nil {
		return archive.Progress{}, err
	}
	aside, dropped, err := w.stagedChanges(ctx, h)
	if err != nil {
		return archive.Progress{}, err
	}
	w.rec.Kept = nil
	for _, item := range dropped {
		name, _, err := item.Item.NameAndVersion()
		if err != nil {
			return archive.Progress{}, err
		}
		w.keep("user:" + name)
	}
	if len(aside) > 0 {
		if err := w.s.DB.Put(ctx, eventlog.UserApp(artifacts.UserScope(h).PK)); err != nil {
			return archive.Progress{}, err
		}
	}
	change, err := w.sharedState(ctx, h)
	if err != nil {
		return archive.Progress{}, err
	}
	writes, err := w.s.logs.SharedPuts(ctx, change)
	if err != nil {
		return archive.Progress{}, err
	}
	writes = append(writes, w.s.sessions.CreateWrites(h)...)
	done := *w.rec
	done.State, done.Version, done.Next = archive.ImportDone, done.Version+1, done.Next+1
	done.GPK, done.GSK, done.Expire = "", "", w.s.Now().Add(importLife).Unix()
	done.Body = records.Body{}
	writes = append(writes, table.Put(h, table.ItemNotExists()), table.Put(done, w.rec.same()))
	for _, item := range aside {
		writes = append(writes, table.Put(item.Item, table.ItemNotExists()))
	}
	if err := w.s.DB.Transact(ctx, writes...); err != nil {
		if errors.Is(err, table.ErrConditionFailed) {
			err = w.taken(ctx)
		}
		return archive.Progress{}, err
	}
	w.tidy(ctx, aside, dropped)
	return w.s.imported(ctx, &done, w.u.UserID)
}

// taken returns fault.Conflict if a session has the id, and otherwise
// table.ErrConditionFailed: another change came first and the attempt may be
// repeated.
func (w *importing) taken(ctx context.Context) error {
	var now ImportItem
	found, err := w.s.DB.Get(ctx, w.rec.Key(), &now)
	if err == nil && found && now.State == archive.ImportOpen {
		err = w.s.free(ctx, w.rec)
	}
	return cmp.Or(err, table.ErrConditionFailed)
}

func (w *importing) keep(key string) {
	if !slices.Contains(w.rec.Kept, key) {
		w.rec.Kept = append(w.rec.Kept, key)
	}
}

// header returns the header of the session as in the document, with the imported
// log.
func (w *importing) header() (*sessions.Header, error) {
	doc, log := w.checked.After.Head, w.checked.After.Log
	from := doc.Session
	meta, err := w.s.content.Encode(from.Metadata)
	if err != nil {
		return nil, err
	}
	h := w.s.sessions.NewHeader(session.New{
		ID: w.rec.Session, UserID: w.u.UserID, AppName: from.AppName, Agent: from.Agent, Name: from.Name,
		Nonce: w.rec.SK, KeyedBy: w.rec.KeyedBy,
	}, meta)
	h.Imported = h.Created
	if w.s.usage.Quotas.Bytes > 0 {
		h.Bytes = w.rec.Bytes + w.bytes
	}
	h.Created, h.LastActivity = from.CreatedTime, from.UpdatedTime
	h.GSK = keys.ActivitySK(h.LastActivity, h.ID())
	h.Log, h.Status, h.UnfinishedRun, h.KeptRun = w.rec.Log, from.Status, doc.SpentRun, doc.KeptRun
	w.s.sessions.SetMetadata(h, meta) // in that log
	h.ImportedBase, h.Branched = doc.TakenOver, doc.Branched
	h.Epoch, h.Marker = log.Epoch, log.Marker
	if h.Marker > 0 {
		o, err := w.outlines.at(eventlog.MarkerAt{Log: h.Log, Position: h.Marker})
		if err != nil {
			return nil, err
		}
		h.Timeline = o.Encode()
	}
	return h, nil
}

// stagedChanges returns the versions to be added to the user's scope, and those
// to be dropped because the user has an artifact of that name.
func (w *importing) stagedChanges(ctx context.Context, h *sessions.Header) (take, drop []stagedItem, err error) {
	all, err := w.s.stagedItems(ctx, w.rec.Log)
	if err != nil {
		return nil, nil, err
	}
	there := map[string]bool{}
	for _, item := range all {
		name, _, err := item.Item.NameAndVersion()
		if err != nil {
			return nil, nil, err
		}
		if _, asked := there[name]; !asked {
			newest, _, err := w.s.artifacts.Newest(ctx, artifacts.UserScope(h), name)
			if err != nil {
				return nil, nil, err
			}
			there[name] = newest != nil
		}
		if there[name] {
			drop = append(drop, item)
		} else {
			take = append(take, item)
		}
	}
	return take, drop, nil
}

// stagedItems returns the versions that an import has staged.
func (s *Store) stagedItems(ctx context.Context, log string) ([]stagedItem, error) {
	var all []stagedItem
	err := s.DB.Pages(ctx, records.Prefix(keys.LogPK(log), keys.PrefixStaged, true), func(page []table.Item) (bool, error) {
		for _, attrs := range page {
			var one stagedItem
			if err := table.Decode(attrs, &one); err != nil {
				return false, fmt.Errorf("decode a version that was set aside: %w", err)
			}
			all = append(all, one)
		}
		return true, nil
	})
	return all, err
}

// tidy removes the import's auxiliary items, which are not part of the session.
func (w *importing) tidy(ctx context.Context, taken, dropped []stagedItem) {
	var keys []table.Item
	for _, item := range append(slices.Clone(taken), dropped...) {
		keys = append(keys, table.NewKey(item.PK, item.SK).Item())
	}
	err := w.s.DB.DeleteItems(ctx, keys)
	for _, item := range dropped {
		err = errors.Join(err, w.s.content.Discard(ctx, item.Item.PK, item.Item.Body))
	}
	if err != nil {
		w.s.Log.WarnContext(ctx, "what an import left stays until the session goes", "error", err)
	}
}

// sharedState sets the shared keys that do not exist. Existing values of the user
// or the app stay.
func (w *importing) sharedState(ctx context.Context, h *sessions.Header) (*eventlog.StateChange, error) {
	given := w.u.Part.State.Shared()
	change, err := w.s.logs.LoadStates(ctx, h.OfLog(), eventlog.Head{Next: 1}, given)
	if err != nil {
		return nil, err
	}
	for _, sc := range change.Scopes {
		for name, v := range given.In(sc.Scope) {
			key := sc.Scope.Prefix() + name
			if had, ok := sc.Values[name]; ok {
				if !session.SameValue(had.Value, v) {
					w.keep(session.ShownKey(key))
				}
				continue
			}
			next := eventlog.SharedValue{Value: v, By: h.ID()}
			if jsonx.IsNull(v) {
				next.Value = nil
			}
			if slices.Contains(w.u.Part.State.Elsewhere, key) {
				next.By = otherSession
			}
			sc.Values[name], sc.Changed = next, true
		}
	}
	slices.Sort(w.rec.Kept)
	return change, change.Check()
}
