package rest

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
)

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

func (a *api) rewindSession(c *call) (*reply, error) {
	r, err := c.rewind()
	if err != nil {
		return nil, err
	}
	if r, err = c.permission.Rewind(r); err != nil {
		return nil, err
	}
	done, err := a.Rewinds.Rewind(c.Context(), r)
	if err != nil {
		return nil, err
	}
	body := rewoundBody{
		Event: done.Event, Session: c.asCallerSees(done.Session),
		Restored:  restoredBody{State: done.State, Artifacts: done.Artifacts},
		Conflicts: emptyIfNil(done.Conflicts),
	}
	if body.Restored.State == nil {
		body.Restored.State = session.Delta{}
	}
	if body.Restored.Artifacts == nil {
		body.Restored.Artifacts = map[string]int64{}
	}
	return jsonReply(http.StatusOK, data{body})
}

// rewind reads the body of a rewind.
func (c *call) rewind() (session.Rewind, error) {
	fail := func(err error) (session.Rewind, error) { return session.Rewind{}, err }
	r := session.Rewind{UserID: c.user}
	var err error
	if r.SessionID, err = c.sessionID(); err != nil {
		return fail(err)
	}
	body, err := c.object()
	if err != nil {
		return fail(err)
	}
	if r.Before, err = body.RequiredText(boundaryField); err != nil {
		return fail(err)
	}
	if err := fault.CheckID("/"+boundaryField, r.Before); err != nil {
		return fail(err)
	}
	if r.Scopes, err = body.scopes(); err != nil {
		return fail(err)
	}
	if r.Restore, err = body.onConflict(); err != nil {
		return fail(err)
	}
	if r.DryRun, err = body.Boolean("dry_run"); err != nil {
		return fail(err)
	}
	if r.CancelRun, err = body.Boolean("cancel_run"); err != nil {
		return fail(err)
	}
	if r.ExpectedSeq, err = body.expectedSeq(); err != nil {
		return fail(err)
	}
	r.Nonce, err = c.derivedID("rewind")
	return r, err
}

// boundaryField is the invocation to which a rewind or a fork goes back.
const boundaryField = "rewind_before_invocation_id"

// scopes reads which scopes a rewind restores, nil if the member is absent.
func (o object) scopes() ([]session.Scope, error) {
	const name = "scopes"
	items, err := o.Array(name)
	if err != nil || !o.Has(name) {
		return nil, err
	}
	if len(items) == 0 {
		return nil, fieldFault(fault.Invalid, o.Pointer(name), "must name a scope, or be left out for all of them")
	}
	scopes := make([]session.Scope, len(items))
	for i, raw := range items {
		at := o.Pointer(name) + "/" + strconv.Itoa(i)
		var word *string
		if json.Unmarshal(raw, &word) != nil || word == nil {
			return nil, malformed(at, "must be a string")
		}
		if scopes[i], err = session.ParseScope(*word); err != nil {
			return nil, fieldFault(fault.Invalid, at, "must be session, user or app")
		}
	}
	return scopes, nil
}

// onConflict reads whether shared values that other sessions have changed since
// are restored, too.
func (o object) onConflict() (restore bool, err error) {
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
	return false, fieldFault(fault.Invalid, o.Pointer(name), "must be keep or restore")
}
