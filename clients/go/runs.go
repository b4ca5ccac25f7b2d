package rethread

import "context"

// Runs has the calls about executions of agents.
type Runs struct{ resource }

// Start appends an input and starts the run that answers it. It returns the thread with
// the input; its RunID is the run, which may wait in the queue.
func (r *Runs) Start(ctx context.Context, sessionID string, request RunRequest, opts ...Option) (Thread, error) {
	return thread(ctx, r.resource, post(repeatKey, request, "/sessions/{}/runs", sessionID), opts)
}

// List lists the active run and those that are over, newest first.
func (r *Runs) List(sessionID string, q ListQuery, opts ...Option) List[Run] {
	return entries[Run](r.resource, listQuery(q.Limit, q.Cursor), opts, "/sessions/{}/runs", sessionID)
}

// Get returns a run.
func (r *Runs) Get(ctx context.Context, sessionID, runID string, opts ...Option) (Run, error) {
	return data[Run](ctx, r.resource, get("/sessions/{}/runs/{}", sessionID, runID), opts)
}

// Requests lists what the agent of a run was sent, where the deployment keeps it, for
// the owner of the session and admins.
func (r *Runs) Requests(sessionID, runID string, q ListQuery, opts ...Option) List[SentRequest] {
	return entries[SentRequest](r.resource, listQuery(q.Limit, q.Cursor), opts, "/sessions/{}/runs/{}/requests", sessionID, runID)
}

// Update keeps an external run alive, or ends it.
func (r *Runs) Update(ctx context.Context, sessionID, runID string, change RunChange, opts ...Option) (Run, error) {
	return data[Run](ctx, r.resource, patch(change, "/sessions/{}/runs/{}", sessionID, runID), opts)
}

// Cancel cancels a run; one that has ended does not change.
func (r *Runs) Cancel(ctx context.Context, sessionID, runID string, opts ...Option) (Thread, error) {
	return r.CancelWith(ctx, sessionID, runID, Cancellation{}, opts...)
}

// CancelWith is Cancel with what becomes of the run.
func (r *Runs) CancelWith(
	ctx context.Context, sessionID, runID string, how Cancellation, opts ...Option,
) (Thread, error) {
	return thread(ctx, r.resource, post(repeatSafe, how, "/sessions/{}/runs/{}/cancel", sessionID, runID), opts)
}

// PushDeltas adds deltas to an item of an external run.
func (r *Runs) PushDeltas(ctx context.Context, sessionID, runID string, push DeltaPush, opts ...Option) (Pushed, error) {
	return data[Pushed](ctx, r.resource, post(repeatKey, push, "/sessions/{}/runs/{}/deltas", sessionID, runID), opts)
}

// PushEvents appends completed events of an external run.
func (r *Runs) PushEvents(ctx context.Context, sessionID, runID string, events RunEvents, opts ...Option) ([]Event, error) {
	return data[[]Event](ctx, r.resource, post(repeatKey, events, "/sessions/{}/runs/{}/events", sessionID, runID), opts)
}
