package sessions

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/rest"
)

// Rewind rewinds sessions.
func Rewind(c rest.Config) http.Handler {
	a := &api{rest.NewAPI(c)}
	for _, base := range []string{rest.Versioned, rest.Bare} {
		a.Handle(http.MethodPost, base+"/sessions/{session_id}/rewind", rest.WithBody(rest.MaxBody, a.Once(rest.Repeatable{Session: access.Rewind}, a.rewindSession)))
	}
	return a.Mux
}

// rewoundBody is the result of a rewind, or of its dry run.
type rewoundBody struct {
	Event     session.Event      `json:"event"` // the marker
	Session   session.Session    `json:"session"`
	Restored  restoredBody       `json:"restored"`
	Conflicts []session.Conflict `json:"conflicts"`
}

type restoredBody struct {
	State     session.Delta    `json:"state"`
	Artifacts map[string]int64 `json:"artifacts"`
}

func (a *api) rewindSession(c *rest.Call) (*rest.Reply, error) {
	r, err := rewindOf(c)
	if err != nil {
		return nil, err
	}
	if r.AtSeq != nil {
		before, err := a.invocationAfter(c, r.SessionID, *r.AtSeq)
		if err != nil {
			return nil, err
		}
		if before == nil {
			return nil, rest.FieldFault(fault.InvocationNotFound, "/"+atSeqField, "must be before the newest position: there is nothing to undo")
		}
		r.Before = *before
	}
	if r, err = c.Permission.Rewind(r); err != nil {
		return nil, err
	}
	done, err := a.Rewinds.Rewind(c.Context(), r)
	if err != nil {
		return nil, err
	}
	body := rewoundBody{
		Event: done.Event, Session: c.AsCallerSees(done.Session),
		Restored:  restoredBody{State: done.State, Artifacts: done.Artifacts},
		Conflicts: rest.EmptyIfNil(done.Conflicts),
	}
	if body.Restored.State == nil {
		body.Restored.State = session.Delta{}
	}
	if body.Restored.Artifacts == nil {
		body.Restored.Artifacts = map[string]int64{}
	}
	return rest.JSON(http.StatusOK, rest.Data{Data: body})
}

// rewindOf reads the body of a rewind.
func rewindOf(c *rest.Call) (session.Rewind, error) {
	fail := func(err error) (session.Rewind, error) { return session.Rewind{}, err }
	r := session.Rewind{UserID: c.User}
	var err error
	if r.SessionID, err = c.SessionID(); err != nil {
		return fail(err)
	}
	body, err := c.Object()
	if err != nil {
		return fail(err)
	}
	var broken fault.Broken
	to, err := boundaryOf(body)
	if broken.Add(err) && to == (boundary{}) {
		broken.Add(rest.Malformed("/"+boundaryField, "is required, or before, or at_seq"))
	}
	r.AtSeq = to.atSeq
	if to.before != nil {
		r.Before = *to.before
	}
	r.Scopes, err = scopesOf(body)
	broken.Add(err)
	r.Restore, err = onConflict(body)
	broken.Add(err)
	r.DryRun, err = body.Boolean("dry_run")
	broken.Add(err)
	r.CancelRun, err = body.Boolean("cancel_run")
	broken.Add(err)
	r.ExpectedSeq, err = body.ExpectedSeq()
	broken.Add(err)
	if err := broken.Err(); err != nil {
		return fail(err)
	}
	r.Nonce, err = c.DerivedID("rewind")
	return r, err
}

// scopesOf reads which scopes a rewind restores, nil if the member is absent.
func scopesOf(o rest.Object) ([]session.Scope, error) {
	const name = "scopes"
	items, err := o.Array(name)
	if err != nil || !o.Has(name) {
		return nil, err
	}
	if len(items) == 0 {
		return nil, rest.FieldFault(fault.Invalid, o.Pointer(name), "must name a scope, or be left out for all of them")
	}
	scopes := make([]session.Scope, len(items))
	for i, raw := range items {
		at := o.Pointer(name) + "/" + strconv.Itoa(i)
		var word *string
		if json.Unmarshal(raw, &word) != nil || word == nil {
			return nil, rest.Malformed(at, "must be a string")
		}
		if scopes[i], err = session.ParseScope(*word); err != nil {
			return nil, rest.FieldFault(fault.Invalid, at, "must be session, user or app")
		}
	}
	return scopes, nil
}

// onConflict reads whether shared values that other sessions have changed since
// are restored, too.
func onConflict(o rest.Object) (restore bool, err error) {
	const name = "on_conflict"
	word, err := o.Text(name)
	if err != nil || !o.Has(name) {
		return false, err
	}
	switch word {
	case "keep":
		return false, nil
	case "restore":
		return true, nil
	}
	return false, rest.FieldFault(fault.Invalid, o.Pointer(name), "must be keep or restore")
}
