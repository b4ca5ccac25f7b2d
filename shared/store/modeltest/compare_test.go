package modeltest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/fault"
	threads "github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
)

// reader compares a store's answers with the model. Differences are returned as
// text, so that a caller can try several models.
type reader struct {
	w     *world
	store *stores.Store
	// closely is the session that is read in several ways, with pages; for the
	// others one part is enough, if it is given.
	closely *conv
	pages   session.EventQuery
	part    string
}

// sessions compares all sessions, deleted ones included.
func (r *reader) sessions(ctx context.Context) string {
	for _, c := range r.w.ever {
		if d := r.session(ctx, c); d != "" {
			return d
		}
	}
	if r.part != "" {
		return ""
	}
	return r.listings(ctx)
}

func (r *reader) query(c *conv) session.EventQuery {
	if c == r.closely {
		return r.pages
	}
	return session.EventQuery{Limit: session.MaxPage}
}

// listings compares the sessions of each user's list, in any order.
func (r *reader) listings(ctx context.Context) string {
	want := map[string][]string{}
	for _, c := range r.w.ever {
		want[c.user] = []string{}
	}
	for _, id := range slices.Sorted(maps.Keys(r.w.live)) {
		c := r.w.live[id]
		want[c.user] = append(want[c.user], id)
	}
	for user, ids := range want {
		page, err := r.store.Sessions.List(ctx, session.ListQuery{UserID: user, Limit: session.MaxPage})
		got := []string{}
		for _, s := range page.Sessions {
			got = append(got, s.ID)
		}
		slices.Sort(got)
		if d := diff(ids, got); d != "" || err != nil {
			return fmt.Sprintf("sessions of %s: %v (-want +got):\n%s", user, err, d)
		}
	}
	return ""
}

func (r *reader) session(ctx context.Context, c *conv) string {
	if c.gone {
		return r.nothing(ctx, c)
	}
	for _, part := range r.parts() {
		if r.part != "" && r.part != part.name && c != r.closely {
			continue
		}
		d, err := part.compare(ctx, c)
		if err != nil {
			return fmt.Sprintf("%s of %s: %v", part.name, c.id, err)
		}
		if d != "" {
			return fmt.Sprintf("%s of %s (-want +got):\n%s", part.name, c.id, d)
		}
	}
	return ""
}

// part is a part of a session that can be read.
type part struct {
	name    string
	compare func(context.Context, *conv) (string, error)
}

func (r *reader) parts() []part {
	return []part{
		{"session", r.header},
		{"tasks", r.tasks}, // before the events, which name them
		{"effective events", func(ctx context.Context, c *conv) (string, error) {
			return r.events(ctx, c, session.Effective)
		}},
		{"all events", func(ctx context.Context, c *conv) (string, error) { return r.events(ctx, c, session.All) }},
		{"thread", r.thread},
		{"state", r.state},
		{"forks", r.forks},
		{"artifacts", r.artifacts},
	}
}

// nothing checks that a deleted session does not exist for any user.
func (r *reader) nothing(ctx context.Context, c *conv) string {
	if r.w.live[c.id] != nil {
		return ""
	}
	if _, err := r.store.Sessions.Get(ctx, c.user, c.id); !errors.Is(err, fault.Of(fault.NotFound)) {
		return fmt.Sprintf("deleted session %s: %v", c.id, err)
	}
	return ""
}

func (r *reader) header(ctx context.Context, c *conv) (string, error) {
	got, err := r.store.Sessions.Get(ctx, c.user, c.id)
	want := session.Session{
		ID: c.id, UserID: c.user, AppName: c.app, Name: c.name, Status: session.Idle,
		Epoch: c.epoch, HeadSeq: int64(len(c.log)),
	}
	if c.failed {
		want.Status = session.Failed
	}
	if c.run != "" {
		want.Status, want.ActiveRunID = session.InProgress, &c.run
	}
	if c.parent != nil {
		want.Fork = &session.Fork{
			SessionID: c.parent.id, RewindBeforeInvocationID: c.boundary, BoundaryFound: c.found,
			Taken: int64(c.inherited),
		}
	}
	want.Agent, want.Metadata, want.Version = got.Agent, got.Metadata, got.Version
	want.CreatedTime, want.UpdatedTime = got.CreatedTime, got.UpdatedTime
	return diff(want, got), err
}

func (r *reader) state(ctx context.Context, c *conv) (string, error) {
	got, err := r.store.Sessions.State(ctx, c.user, c.id)
	if err != nil {
		return "", err
	}
	want := map[string]string{}
	shared := r.w.values(c)
	for _, values := range []map[string]string{c.now.state, shared} {
		for key, v := range values {
			if _, artifact := session.ArtifactOf(key); !artifact {
				want[key] = v
			}
		}
	}
	merged, scopes := map[string]string{}, map[string]string{}
	for key, v := range got.Merged {
		merged[key] = string(v)
	}
	for prefix, values := range map[string]session.Values{"": got.Session, "user:": got.User, "app:": got.App} {
		for key, v := range values {
			scopes[prefix+key] = string(v)
		}
	}
	return diff(want, merged) + diff(want, scopes), nil
}

// events compares a view, in pages too where the session is read closely.
// thread compares the thread, read back from its end.
func (r *reader) thread(ctx context.Context, c *conv) (string, error) {
	q := threads.ThreadQuery{Descending: true, Limit: r.query(c).Limit}
	var got []session.Event
	for {
		page, err := r.store.Runs.Thread(ctx, c.user, c.id, q)
		if err != nil {
			return "", err
		}
		if got = append(got, page.Items...); page.Next == nil {
			break
		}
		q.Resume = *page.Next
	}
	slices.Reverse(got)
	wanted, seqs := c.shown(session.Effective)
	return r.compareEvents(c, wanted, seqs, got), nil
}

// shown returns the entries of a view of the log, with their positions.
func (c *conv) shown(view session.View) (entries []*entry, seqs []int64) {
	for i, e := range c.log {
		if view == session.All || (c.now.shows(e) && !e.marker && !e.hidden && e.event.TaskID == "") {
			entries, seqs = append(entries, e), append(seqs, int64(i+1))
		}
	}
	return entries, seqs
}

func (r *reader) events(ctx context.Context, c *conv, view session.View) (string, error) {
	wanted, seqs := c.shown(view)
	queries := []session.EventQuery{{Limit: session.MaxPage}}
	if c == r.closely {
		queries = append(queries, r.pages)
	}
	for _, q := range queries {
		q.View = view
		got, err := r.all(ctx, c, q)
		if err != nil {
			return "", err
		}
		from := 0
		for from < len(seqs) && seqs[from] <= q.After {
			from++
		}
		if q.Descending {
			slices.Reverse(got)
		}
		if d := r.compareEvents(c, wanted[from:], seqs[from:], got); d != "" {
			return fmt.Sprintf("after %d, descending %v, pages of %d:\n%s", q.After, q.Descending, q.Limit, d), nil
		}
	}
	return "", nil
}

func (r *reader) all(ctx context.Context, c *conv, q session.EventQuery) ([]session.Event, error) {
	var out []session.Event
	for {
		page, err := r.store.Sessions.Events(ctx, c.user, c.id, q)
		if err != nil {
			return nil, err
		}
		if len(page.Events) > q.Limit {
			return nil, fmt.Errorf("a page of %d events, %d were requested", len(page.Events), q.Limit)
		}
		out = append(out, page.Events...)
		if page.Next == nil {
			return out, nil
		}
		q.Resume = *page.Next
	}
}

// compareEvents first compares everything except the ids, then the ids; the model
// learns those that the store generated.
func (r *reader) compareEvents(c *conv, wanted []*entry, seqs []int64, got []session.Event) string {
	var want, have [][]byte
	for i, e := range wanted {
		event := e.event
		event.Seq, event.SessionID = seqs[i], c.id
		if event.Status == "" {
			event.Status = session.EventCompleted
		}
		want = append(want, external(event))
	}
	for _, e := range got {
		have = append(have, external(e))
	}
	if d := diffJSON(want, have); d != "" {
		return d
	}
	for i, e := range wanted {
		if e.event.ID == "" && got[i].ID != "" && !r.w.ids[got[i].ID] {
			e.event.ID = got[i].ID
			r.w.ids[e.event.ID] = true
		}
		if e.initial && e.event.InvocationID == "" {
			e.event.InvocationID = got[i].InvocationID
		}
		if e.event.ID != got[i].ID || e.event.InvocationID != got[i].InvocationID {
			return fmt.Sprintf("seq %d: id %q of invocation %q, want %q of %q",
				seqs[i], got[i].ID, got[i].InvocationID, e.event.ID, e.event.InvocationID)
		}
		if e.placed != nil && e.placed.id != "" && got[i].TaskID != e.placed.id {
			return fmt.Sprintf("seq %d places task %q, want %q", seqs[i], got[i].TaskID, e.placed.id)
		}
	}
	return ""
}

// external returns an event in its external form, without generated members.
func external(e session.Event) []byte {
	e.ID, e.CreatedTime = "", 0
	if _, given := e.Fields["content"]; !given && e.Author == "system" {
		e.InvocationID = "" // the first event's is generated
	}
	if e.TaskID != "" {
		e.TaskID = "placed"
	}
	if e.Fields["run"] != nil { // the store decides when it began and ended
		e = e.Without("run")
	}
	return mustJSON(e)
}

// diffJSON is cmp.Diff for JSON values. Equal bytes, the usual case, are not decoded.
func diffJSON(want, got [][]byte) string {
	if slices.EqualFunc(want, got, bytes.Equal) {
		return ""
	}
	return cmp.Diff(decoded(want), decoded(got))
}

func decoded(texts [][]byte) []any {
	out := make([]any, len(texts))
	for i, text := range texts {
		if err := json.Unmarshal(text, &out[i]); err != nil {
			panic(err)
		}
	}
	return out
}

// diff is cmp.Diff, which takes much longer to find values equal than reflect.
func diff(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got)
}
