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
	if r.AtSeq != nil {
		before, err := a.invocationAfter(c, r.SessionID, *r.AtSeq)
		if err != nil {
			return nil, err
		}
		if before == nil {
			return nil, fieldFault(fault.InvocationNotFound, "/"+atSeqField, "must be before the newest position: there is nothing to undo")
		}
		r.Before = *before
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
	var broken fault.Broken
	to, err := body.boundary()
	if broken.Add(err) && to == (boundary{}) {
		broken.Add(malformed("/"+boundaryField, "is required, or before, or at_seq"))
	}
	r.AtSeq = to.atSeq
	if to.before != nil {
		r.Before = *to.before
	}
	r.Scopes, err = body.scopes()
	broken.Add(err)
	r.Restore, err = body.onConflict()
	broken.Add(err)
	r.DryRun, err = body.Boolean("dry_run")
	broken.Add(err)
	r.CancelRun, err = body.Boolean("cancel_run")
	broken.Add(err)
	r.ExpectedSeq, err = body.expectedSeq()
	broken.Add(err)
	if err := broken.Err(); err != nil {
		return fail(err)
	}
	r.Nonce, err = c.derivedID("rewind")
	return r, err
}

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
