package rest

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// Runs handles the runs of sessions and their threads.
func Runs(c Config) http.Handler {
	a := newAPI(c)
	for _, base := range []string{versioned, bare} {
		a.handle(http.MethodGet, base+"/sessions/{session_id}/thread", a.on(access.ReadSession, a.getThread))
		runs := base + "/sessions/{session_id}/runs"
		a.handle(http.MethodGet, runs, a.on(access.ReadRun, a.listRuns))
		a.handle(http.MethodPost, runs, withBody(maxBody, a.once(repeatable{session: access.StartRun}, a.startRun)))
		a.handle(http.MethodGet, runs+"/{run_id}", a.on(access.ReadRun, a.getRun))
		a.handle(http.MethodPatch, runs+"/{run_id}", withBody(maxBody, a.on(access.PushRun, a.updateRun)))
		a.handle(http.MethodPost, runs+"/{run_id}/cancel", withOptionalBody(maxBody, a.on(access.CancelRun, a.cancelRun)))
		a.handle(http.MethodPost, runs+"/{run_id}/deltas", withBody(maxBody, a.once(repeatable{session: access.PushRun}, a.pushDeltas)))
		a.handle(http.MethodPost, runs+"/{run_id}/events", withBody(maxBody, a.once(repeatable{session: access.PushRun}, a.pushEvents)))
	}
	return a.mux
}

func (a *api) listRuns(c *call) (*reply, error) {
	id, err := c.sessionID()
	if err != nil {
		return nil, err
	}
	q, err := c.query()
	if err != nil {
		return nil, err
	}
	p, err := c.pages(q, session.DefaultPage, "runs", id)
	if err != nil {
		return nil, err
	}
	from, err := p.resumed()
	if err != nil {
		return nil, err
	}
	page, err := a.Runs.ListRuns(c.Context(), run.ListQuery{UserID: c.user, SessionID: id, Limit: p.limit, Before: from.Seq})
	if err != nil {
		return nil, err
	}
	var next *string
	if page.Next > 0 {
		if next, err = p.nextInLog(&session.Resume{Seq: page.Next}); err != nil {
			return nil, err
		}
	}
	return p.listReply(page.Runs, next)
}

func (a *api) getRun(c *call) (*reply, error) {
	ref, err := c.runRef()
	if err != nil {
		return nil, err
	}
	r, err := a.Runs.Run(c.Context(), ref)
	if err != nil {
		return nil, err
	}
	return jsonReply(http.StatusOK, data{r})
}

// cancelRun cancels a run of any mode; it leaves an ended one unchanged.
func (a *api) cancelRun(c *call) (*reply, error) {
	ref, err := c.runRef()
	if err != nil {
		return nil, err
	}
	body, err := c.object()
	if err != nil {
		return nil, err
	}
	on, err := body.onFailed()
	if err != nil {
		return nil, err
	}
	if _, err := a.Runs.CancelAs(c.Context(), ref, on); err != nil {
		return nil, err
	}
	return a.newThread(c, http.StatusOK, ref.SessionID, "")
}

// runRef reads the run in the path.
func (c *call) runRef() (ref run.Ref, err error) {
	ref.UserID = c.user
	if ref.SessionID, err = c.sessionID(); err != nil {
		return ref, err
	}
	ref.RunID, err = c.pathID("run_id")
	return ref, err
}

// pushableRun finds the run in the path for a push by its agent: it must be
// external and in progress.
func (a *api) pushableRun(c *call) (run.Ref, run.Run, error) {
	ref, r, err := a.external(c)
	if err == nil {
		err = pushable(r)
	}
	return ref, r, err
}

// pushable refuses a push to a run that is not external, or is over.
func pushable(r run.Run) error {
	if err := ofAgent(r); err != nil {
		return err
	}
	if r.Status.Final() {
		return isOver(r)
	}
	return nil
}

func isOver(r run.Run) error {
	return fault.New(fault.RunEnded, "the run is over: %s", r.Status).
		With("run_id", r.ID).With("run_status", r.Status)
}

// external finds the run in the path for a request that only an external run's
// agent makes.
func (a *api) external(c *call) (run.Ref, run.Run, error) {
	fail := func(err error) (run.Ref, run.Run, error) { return run.Ref{}, run.Run{}, err }
	ref, err := c.runRef()
	if err != nil {
		return fail(err)
	}
	r, err := a.Runs.Run(c.Context(), ref)
	if err != nil {
		return fail(err)
	}
	if err := ofAgent(r); err != nil {
		return fail(err)
	}
	return ref, r, nil
}

// ofAgent refuses a run that is not external.
func ofAgent(r run.Run) error {
	if r.Mode == run.External {
		return nil
	}
	return fault.New(fault.RunNotExternal, "the run's mode is %s: only an external run is written to", r.Mode).With("run_id", r.ID)
}

// base returns the base path of the request.
func (c *call) base() string {
	if strings.HasPrefix(c.URL.Path, versioned+"/") {
		return versioned
	}
	return bare
}

func (c *call) runPath(ref run.Ref) string {
	return c.base() + "/sessions/" + url.PathEscape(ref.SessionID) + "/runs/" + url.PathEscape(ref.RunID)
}
