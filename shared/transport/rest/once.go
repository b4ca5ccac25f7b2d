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
	keyHeader = "Idempotency-Key"
	// ReplayedHeader marks the answer to the repeat of a request.
	ReplayedHeader = "Idempotency-Replayed"
	maxKey         = 255
	// finishTime bounds writes about a key after the request, if the function
	// has no deadline.
	finishTime = 5 * time.Second
	// replyTime is reserved to answer before the function's deadline.
	replyTime = time.Second
)

// Authority checks the caller's permission for a request. It returns the log of
// the session that the request is about, "" if there is none or it is to be
// created.
type Authority func(c *Call) (log string, err error)

// Repeatable is a creating endpoint that a caller may repeat with the same key.
type Repeatable struct {
	May      Authority     // checked before a key is looked up; of the session in the path by default
	Session  access.Action // on the session in the path, if the endpoint is about one
	Rebuilds bool          // the endpoint finds its answer again, which is not stored
}

// Once makes a creating endpoint safe to repeat: the same key and body get the
// same answer. Only a success is stored; a failed request releases its key and
// may be tried again. The permission is checked before a key is looked up, and
// again before a stored answer is returned.
func (a *API) Once(r Repeatable, e Endpoint) Endpoint {
	plain := e
	if r.Session != "" {
		plain = a.On(r.Session, e)
	}
	if r.May == nil {
		r.May = a.AuthorityFor(r.Session)
	}
	return func(c *Call) (*Reply, error) {
		key, err := idempotencyKey(c.Header)
		switch {
		case err != nil:
			return nil, err
		case key == "":
			return plain(c)
		}
		c.Key = key
		return a.onceByKey(c, r, e)
	}
}

func (a *API) onceByKey(c *Call, r Repeatable, e Endpoint) (*Reply, error) {
	log, err := r.May(c)
	if err != nil {
		return nil, err
	}
	claim := a.claim(c, log)
	c.Claim, claim.Rebuilds = claim.Name(), r.Rebuilds
	answer, err := a.Idempotency.Begin(c.Context(), claim)
	if err != nil {
		return nil, a.beginError(c, claim, err)
	}
	if answer == nil {
		return a.runWithKey(c, claim, e)
	}
	again, err := r.May(c)
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
func (a *API) rebuild(c *Call, claim idempotency.Claim, answer *idempotency.Answer, e Endpoint) (*Reply, error) {
	c.FindOnly = true
	rep, err := e(c)
	c.FindOnly = false
	switch {
	case err == nil:
		rep.Header.Set(ReplayedHeader, "true")
		return rep, nil
	case !errors.Is(err, session.ErrNotAppended):
		return nil, err
	case answer.Lease > 0:
		return nil, keyInUse(idempotency.InUse(answer.Lease))
	}
	return a.runWithKey(c, claim, e)
}

// AuthorityFor requires the permission for the session in the path. The
// endpoint runs with it.
func (a *API) AuthorityFor(action access.Action) Authority {
	return func(c *Call) (string, error) {
		id, err := c.SessionID()
		if err != nil {
			return "", err
		}
		permission, err := a.Gate.Permission(c.Context(), c.Caller, id, action)
		if err != nil {
			return "", err
		}
		c.Permission, c.User = permission, permission.Owner
		return permission.Log, nil
	}
}

// AnyCaller is the authority for creating the caller's own objects.
func AnyCaller(*Call) (string, error) { return "", nil }

func (a *API) claim(c *Call, log string) idempotency.Claim {
	digest := sha256.Sum256(c.JSON)
	return idempotency.Claim{
		UserID: c.Caller.UserID, Key: c.Key, Route: c.Method + " " + c.URL.Path, Digest: hex.EncodeToString(digest[:]),
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
func (a *API) beginError(c *Call, claim idempotency.Claim, err error) error {
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

func replay(answer *idempotency.Answer) *Reply {
	rep := &Reply{Status: answer.Status, Header: http.Header{}, Body: answer.Body}
	for name, value := range answer.Header {
		rep.Header.Set(name, value)
	}
	rep.Header.Set(ReplayedHeader, "true")
	return rep
}

// runWithKey runs the endpoint under its key. The key is released unless the
// answer is stored, even after a panic: the ids derived from the key let a
// repeat find the work done.
func (a *API) runWithKey(c *Call, claim idempotency.Claim, e Endpoint) (*Reply, error) {
	stored := false
	defer func() {
		if !stored {
			a.finish(c, "release an idempotency key", func(ctx context.Context) error {
				return a.Idempotency.Release(ctx, claim)
			})
		}
	}()
	rep, err := e(c)
	if err != nil || rep.Status < 200 || rep.Status > 299 {
		return rep, err
	}
	if rep.Rebuilt {
		stored = true
		return rep, nil
	}
	answer := idempotency.Answer{Status: rep.Status, Header: map[string]string{}, Body: rep.Body}
	if rep.Kept != nil {
		answer.Body = rep.Kept
	}
	for name := range rep.Header {
		answer.Header[name] = rep.Header.Get(name)
	}
	stored = a.finish(c, "store an answer by its idempotency key", func(ctx context.Context) error {
		return a.Idempotency.Finish(ctx, claim, answer)
	})
	return rep, nil
}

// finish writes the outcome of a key even if the caller has left; an error does
// not change the answer. It may use all the time that the function has left: a
// repeat that finds no stored answer gets the current state.
func (a *API) finish(c *Call, what string, do func(context.Context) error) bool {
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
