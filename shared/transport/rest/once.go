package rest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/idempotency"
	"github.com/rethread/rethread/shared/domain/session"
)

const (
	keyHeader      = "Idempotency-Key"
	replayedHeader = "Idempotency-Replayed"
	maxKey         = 255
	// finishTime bounds writes about a key after the request, if the function
	// has no deadline.
	finishTime = 5 * time.Second
	// replyTime is reserved to answer before the function's deadline.
	replyTime = time.Second
)

// authority checks the caller's permission for a request. It returns the log of
// the session that the request is about, "" if there is none or it is to be
// created.
type authority func(c *call) (log string, err error)

// repeatable is a creating endpoint that a caller may repeat with the same key.
type repeatable struct {
	may      authority     // checked before a key is looked up; of the session in the path by default
	session  access.Action // on the session in the path, if the endpoint is about one
	rebuilds bool          // the endpoint finds its answer again, which is not stored
}

// once makes a creating endpoint safe to repeat: the same key and body get the
// same answer. Only a success is stored; a failed request releases its key and
// may be tried again. The permission is checked before a key is looked up, and
// again before a stored answer is returned.
func (a *api) once(r repeatable, e endpoint) endpoint {
	plain := e
	if r.session != "" {
		plain = a.on(r.session, e)
	}
	if r.may == nil {
		r.may = a.authorityFor(r.session)
	}
	return func(c *call) (*reply, error) {
		key, err := idempotencyKey(c.Header)
		switch {
		case err != nil:
			return nil, err
		case key == "":
			return plain(c)
		}
		c.key = key
		return a.onceByKey(c, r, e)
	}
}

func (a *api) onceByKey(c *call, r repeatable, e endpoint) (*reply, error) {
	log, err := r.may(c)
	if err != nil {
		return nil, err
	}
	claim := a.claim(c, log)
	c.claim, claim.Rebuilds = claim.Name(), r.rebuilds
	answer, err := a.Idempotency.Begin(c.Context(), claim)
	if err != nil {
		return nil, a.beginError(c, claim, err)
	}
	if answer == nil {
		return a.runWithKey(c, claim, e)
	}
	again, err := r.may(c)
	if err == nil && again != log {
		err = fault.Missing("Session")
	}
	if err != nil {
		return nil, err
	}
	if answer.Unkept {
		return a.rebuild(c, claim, answer, e)
	}
	return replay(answer), nil
}

// rebuild answers the repeat of a request whose answer is not stored. If nothing shows
// that the request was carried out, it is, unless an earlier attempt may be at work.
func (a *api) rebuild(c *call, claim idempotency.Claim, answer *idempotency.Answer, e endpoint) (*reply, error) {
	c.findOnly = true
	rep, err := e(c)
	c.findOnly = false
	switch {
	case err == nil:
		rep.header.Set(replayedHeader, "true")
		return rep, nil
	case !errors.Is(err, session.ErrNotAppended):
		return nil, err
	case answer.Lease > 0:
		return nil, keyInUse(idempotency.InUse(answer.Lease))
	}
	return a.runWithKey(c, claim, e)
}

// authorityFor requires the permission for the session in the path. The
// endpoint runs with it.
func (a *api) authorityFor(action access.Action) authority {
	return func(c *call) (string, error) {
		id, err := c.sessionID()
		if err != nil {
			return "", err
		}
		permission, err := a.gate.Permission(c.Context(), c.caller, id, action)
		if err != nil {
			return "", err
		}
		c.permission, c.user = permission, permission.Owner
		return permission.Log, nil
	}
}

// anyCaller is the authority for creating the caller's own objects.
func anyCaller(*call) (string, error) { return "", nil }

func (a *api) claim(c *call, log string) idempotency.Claim {
	digest := sha256.Sum256(c.body)
	return idempotency.Claim{
		UserID: c.caller.UserID, Key: c.key, Route: c.Method + " " + c.URL.Path, Digest: hex.EncodeToString(digest[:]),
		Log: log, Nonce: c.newID(),
	}
}

func idempotencyKey(h http.Header) (string, error) {
	given := h.Values(keyHeader)
	if len(given) == 0 {
		return "", nil
	}
	key := given[0]
	bad := len(given) > 1 || key == "" || len(key) > maxKey
	for _, b := range []byte(key) {
		bad = bad || b < ' ' || b > '~'
	}
	if bad {
		return "", fault.Field(fault.Malformed, keyHeader, "must be 1 to %d printable ASCII characters", maxKey)
	}
	return key, nil
}

// beginError returns why a key was not acquired. If that is unknown, the key is
// released, since only this try could use it.
func (a *api) beginError(c *call, claim idempotency.Claim, err error) error {
	if !errors.As(err, new(*fault.Error)) {
		a.finish(c, "release an idempotency key after an error", func(ctx context.Context) error { return a.Idempotency.Release(ctx, claim) })
	}
	return keyInUse(err)
}

// keyInUse turns the fault of a key that another request holds into a conflict.
func keyInUse(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Busy {
		return err
	}
	conflict := *f
	conflict.Kind, conflict.Code = fault.Conflict, fault.RequestInProgress
	conflict.RetryAfter = max(f.RetryAfter, time.Second)
	return &conflict
}

func replay(answer *idempotency.Answer) *reply {
	rep := &reply{status: answer.Status, header: http.Header{}, body: answer.Body}
	for name, value := range answer.Header {
		rep.header.Set(name, value)
	}
	rep.header.Set(replayedHeader, "true")
	return rep
}

// runWithKey runs the endpoint under its key. The key is released unless the
// answer is stored, even after a panic: the ids derived from the key let a
// repeat find the work done.
func (a *api) runWithKey(c *call, claim idempotency.Claim, e endpoint) (*reply, error) {
	stored := false
	defer func() {
		if !stored {
			a.finish(c, "release an idempotency key", func(ctx context.Context) error {
				return a.Idempotency.Release(ctx, claim)
			})
		}
	}()
	rep, err := e(c)
	if err != nil || rep.status < 200 || rep.status > 299 {
		return rep, err
	}
	if rep.rebuilt {
		stored = true
		return rep, nil
	}
	answer := idempotency.Answer{Status: rep.status, Header: map[string]string{}, Body: rep.body}
	if rep.kept != nil {
		answer.Body = rep.kept
	}
	for name := range rep.header {
		answer.Header[name] = rep.header.Get(name)
	}
	stored = a.finish(c, "store an answer by its idempotency key", func(ctx context.Context) error {
		return a.Idempotency.Finish(ctx, claim, answer)
	})
	return rep, nil
}

// finish writes the outcome of a key even if the caller has left; an error does
// not change the answer. It may use all the time that the function has left: a
// repeat that finds no stored answer gets the current state.
func (a *api) finish(c *call, what string, do func(context.Context) error) bool {
	left := finishTime
	if end, ok := c.Context().Deadline(); ok {
		left = max(time.Until(end)-replyTime, replyTime)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Context()), left)
	defer cancel()
	if err := do(ctx); err != nil {
		a.Log.WarnContext(ctx, "idempotency", "operation", what, "error", err)
		return false
	}
	return true
}
