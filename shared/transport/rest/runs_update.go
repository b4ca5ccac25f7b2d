package rest

import (
	"net/http"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
)

// runChange is an external agent's report about its run: a heartbeat (status
// ""), or how it ended.
type runChange struct {
	status  run.Status
	problem *run.Problem // of a failed run
}

func (a *api) updateRun(c *call) (*reply, error) {
	change, err := c.runChange()
	if err != nil {
		return nil, err
	}
	ref, r, err := a.external(c)
	if err != nil {
		return nil, err
	}
	switch {
	case r.Status == change.status: // the repeat of a request whose answer was lost
	case r.Status.Final():
		err = isOver(r)
	case change.status == "":
		err = a.Runs.Renew(c.Context(), ref)
	default:
		r, err = a.Runs.End(c.Context(), ref, change.status, change.problem)
	}
	if err != nil {
		return nil, err
	}
	return jsonReply(http.StatusOK, data{r})
}

// runChange reads the body of a report.
func (c *call) runChange() (change runChange, err error) {
	body, err := c.object()
	if err != nil {
		return change, err
	}
	alive, err := body.Boolean("keep_alive")
	if err != nil {
		return change, err
	}
	if body.Has("keep_alive") && !alive {
		return change, fieldFault(fault.Invalid, "/keep_alive", "must be true or absent")
	}
	if body.Has("status") {
		status, err := body.choice("status", string(run.Completed), string(run.Failed), string(run.Cancelled))
		if err != nil {
			return change, err
		}
		change.status = run.Status(status)
	}
	if change.status == "" && !alive {
		return change, fault.New(fault.NothingToChange, "nothing to change: give keep_alive or status")
	}
	change.problem, err = body.runProblem(change.status)
	return change, err
}

// runProblem reads why a run failed, which is optional.
func (o object) runProblem(status run.Status) (*run.Problem, error) {
	if status != run.Failed {
		if o.Has("error") {
			return nil, fieldFault(fault.Invalid, "/error", "must be absent unless status is failed")
		}
		return nil, nil
	}
	if !o.Has("error") {
		return run.NewProblem(run.CodeAgent, "The agent reported a failure."), nil
	}
	problem, err := o.object("error")
	if err != nil {
		return nil, err
	}
	message, err := problem.RequiredText("message")
	if err != nil {
		return nil, err
	}
	if message == "" {
		return nil, fieldFault(fault.Invalid, "/error/message", "must not be empty")
	}
	code, err := problem.name("code")
	if err != nil {
		return nil, err
	}
	if code == "" {
		code = run.CodeAgent
	}
	return run.NewProblem(code, message), nil
}
