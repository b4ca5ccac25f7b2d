package runs

import (
	"net/http"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/transport/rest"
)

// runChange is an external agent's report about its run: a heartbeat (status
// ""), or how it ended.
type runChange struct {
	status  run.Status
	problem *run.Problem // of a failed run
}

func (a *api) updateRun(c *rest.Call) (*rest.Reply, error) {
	change, err := runChangeOf(c)
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
	return rest.JSON(http.StatusOK, rest.Data{Data: r})
}

// runChangeOf reads the body of a report.
func runChangeOf(c *rest.Call) (change runChange, err error) {
	body, err := c.Object()
	if err != nil {
		return change, err
	}
	alive, err := body.Boolean("keep_alive")
	if err != nil {
		return change, err
	}
	if body.Has("keep_alive") && !alive {
		return change, rest.FieldFault(fault.Invalid, "/keep_alive", "must be true or absent")
	}
	if body.Has("status") {
		status, err := body.Choice("status", string(run.Completed), string(run.Failed), string(run.Cancelled))
		if err != nil {
			return change, err
		}
		change.status = run.Status(status)
	}
	if change.status == "" && !alive {
		return change, fault.New(fault.NothingToChange, "nothing to change: give keep_alive or status")
	}
	change.problem, err = runProblem(body, change.status)
	return change, err
}

// runProblem reads why a run failed, which is optional.
func runProblem(o rest.Object, status run.Status) (*run.Problem, error) {
	if status != run.Failed {
		if o.Has("error") {
			return nil, rest.FieldFault(fault.Invalid, "/error", "must be absent unless status is failed")
		}
		return nil, nil
	}
	if !o.Has("error") {
		return run.NewProblem(run.CodeAgent, "The agent reported a failure."), nil
	}
	problem, err := o.Member("error")
	if err != nil {
		return nil, err
	}
	message, err := problem.RequiredText("message")
	if err != nil {
		return nil, err
	}
	if message == "" {
		return nil, rest.FieldFault(fault.Invalid, "/error/message", "must not be empty")
	}
	code, err := nameOf(problem, "code")
	if err != nil {
		return nil, err
	}
	if code == "" {
		code = run.CodeAgent
	}
	return run.NewProblem(code, message), nil
}
