// Package runs serves runs over HTTP, and the thread of a session, which has its events
// beside the runs that wait.
package runs

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/rest"
)

// api holds the handlers.
type api struct{ *rest.API }

// New handles the runs of sessions and their threads.
func New(c rest.Config) http.Handler {
	a := &api{rest.NewAPI(c)}
	a.Handle(http.MethodGet, rest.Versioned+"/sessions/{session_id}/runs/{run_id}/requests", a.On(access.ReadRequests, a.listRequests))
	for _, base := range []string{rest.Versioned, rest.Bare} {
		a.Handle(http.MethodGet, base+"/sessions/{session_id}/thread", a.On(access.ReadSession, a.getThread))
		runs := base + "/sessions/{session_id}/runs"
		a.Handle(http.MethodGet, runs, a.On(access.ReadRun, a.listRuns))
		a.Handle(http.MethodPost, runs, rest.WithBody(rest.MaxBody, a.Once(rest.Repeatable{Session: access.StartRun}, a.startRun)))
		a.Handle(http.MethodGet, runs+"/{run_id}", a.On(access.ReadRun, a.getRun))
		a.Handle(http.MethodPatch, runs+"/{run_id}", rest.WithBody(rest.MaxBody, a.On(access.PushRun, a.updateRun)))
		a.Handle(http.MethodPost, runs+"/{run_id}/cancel", rest.WithOptionalBody(rest.MaxBody, a.On(access.CancelRun, a.cancelRun)))
		a.Handle(http.MethodPost, runs+"/{run_id}/deltas", rest.WithBody(rest.MaxBody, a.Once(rest.Repeatable{Session: access.PushRun}, a.pushDeltas)))
		a.Handle(http.MethodPost, runs+"/{run_id}/events", rest.WithBody(rest.MaxBody, a.Once(rest.Repeatable{Session: access.PushRun}, a.pushEvents)))
	}
	return a.Mux
}

func (a *api) listRuns(c *rest.Call) (*rest.Reply, error) {
	id, err := c.SessionID()
	if err != nil {
		return nil, err
	}
	p, err := c.PlainPages(session.DefaultPage, "runs", id)
	if err != nil {
		return nil, err
	}
	from, err := p.Resumed()
	if err != nil {
		return nil, err
	}
	page, err := a.Runs.ListRuns(c.Context(), run.ListQuery{UserID: c.User, SessionID: id, Limit: p.Limit, Before: from.Seq})
	if err != nil {
		return nil, err
	}
	next, err := p.NextSeq(page.Next)
	if err != nil {
		return nil, err
	}
	return p.ListReply(page.Runs, next)
}

func (a *api) getRun(c *rest.Call) (*rest.Reply, error) {
	ref, err := runRef(c)
	if err != nil {
		return nil, err
	}
	r, err := a.Runs.Run(c.Context(), ref)
	if err != nil {
		return nil, err
	}
	return rest.JSON(http.StatusOK, rest.Data{Data: r})
}

// cancelRun cancels a run of any mode; it leaves an ended one unchanged.
func (a *api) cancelRun(c *rest.Call) (*rest.Reply, error) {
	ref, err := runRef(c)
	if err != nil {
		return nil, err
	}
	body, err := c.Object()
	if err != nil {
		return nil, err
	}
	on, err := onFailed(body)
	if err != nil {
		return nil, err
	}
	if _, err := a.Runs.CancelAs(c.Context(), ref, on); err != nil {
		return nil, err
	}
	return a.newThread(c, http.StatusOK, ref.SessionID, "")
}

// runRef reads the run in the path.
func runRef(c *rest.Call) (ref run.Ref, err error) {
	ref.UserID = c.User
	if ref.SessionID, err = c.SessionID(); err != nil {
		return ref, err
	}
	ref.RunID, err = c.PathID("run_id")
	return ref, err
}

// pushableRun finds the run in the path for a push by its agent: it must be
// external and in progress.
func (a *api) pushableRun(c *rest.Call) (run.Ref, run.Run, error) {
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
func (a *api) external(c *rest.Call) (run.Ref, run.Run, error) {
	fail := func(err error) (run.Ref, run.Run, error) { return run.Ref{}, run.Run{}, err }
	ref, err := runRef(c)
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

// baseOf returns the base path of the request.
func baseOf(c *rest.Call) string {
	if strings.HasPrefix(c.URL.Path, rest.Versioned+"/") {
		return rest.Versioned
	}
	return rest.Bare
}

func runPath(c *rest.Call, ref run.Ref) string {
	return baseOf(c) + "/sessions/" + url.PathEscape(ref.SessionID) + "/runs/" + url.PathEscape(ref.RunID)
}
