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
)

const (
	keyHeader      = "Idempotency-Key"
	replayedHeader = "Idempotency-Replayed"
	maxKey         = 255
	// settleTime bounds what is done with a key after the request itself, where the
	// function's time has no end.
	settleTime = 5 * time.Second
	// replyTime is left of the function's time to answer in.
	replyTime = time.Second
)

// authority lets a caller in who may do what a request asks. It returns the log
// of the session that the request is about, "" where it is about none or makes
// one.
type authority func(c *call) (log string, err error)

// once makes an endpoint that creates something safe to repeat: the same key
// and body give the same answer. Only what succeeded is kept; a request that
// failed gives its key back and may be tried again. Access comes first: nothing
// is looked up for a caller who may not do it, and a kept answer is given only
// to one who still may once it has been read.
func (a *api) once(may authority, e endpoint) endpoint {
	return func(c *call) (*reply, error) {
		key, err := idempotencyKey(c.Header)
		if err != nil {
			return nil, err
		}
		if key == "" {
			return e(c)
		}
		c.key = key
		log, err := may(c)
		if err != nil {
			return nil, err
		}
		claim := a.claim(c, log)
		c.claim = claim.Name()
		answer, err := a.Idempotency.Begin(c.Context(), claim)
		if err != nil {
			return nil, a.notBegun(c, claim, err)
		}
		if answer == nil {
			return a.carryOut(c, claim, e)
		}
		again, err := may(c)
		if err == nil && again != log {
			err = fault.Missing("Session")
		}
		if err != nil {
			return nil, err
		}
		return replay(answer), nil
	}
}

// onceOn is once for what is done with the session that the path names.
func (a *api) onceOn(action access.Action, e endpoint) endpoint {
	return a.onceIf(a.may(action), action, e)
}

// onceIf is onceOn with an authority that has more to say.
func (a *api) onceIf(may authority, action access.Action, e endpoint) endpoint {
	keyed, plain := a.once(may, e), a.on(action, e)
	return func(c *call) (*reply, error) {
		if len(c.Header.Values(keyHeader)) > 0 {
			return keyed(c)
		}
		return plain(c)
	}
}

// may lets those in who may do something with the session that the path names.
// What is done after it is done with the pass that they have.
func (a *api) may(action access.Action) authority {
	return func(c *call) (string, error) {
		id, err := c.sessionID()
		if err != nil {
			return "", err
		}
		pass, err := a.gate.Permission(c.Context(), c.caller, id, action)
		if err != nil {
			return "", err
		}
		c.pass, c.user = pass, pass.Owner
		return pass.Log, nil
	}
}

// anyone is the authority for making something that is the caller's own.
func anyone(*call) (string, error) { return "", nil }

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

// notBegun is why a key was not had. Where it is not known whether it was, it is
// given back, since only this try could use it.
func (a *api) notBegun(c *call, claim idempotency.Claim, err error) error {
	if !errors.As(err, new(*fault.Error)) {
		a.settle(c, "give an idempotency key back", func(ctx context.Context) error { return a.Idempotency.Release(ctx, claim) })
	}
	return inUse(err)
}

// inUse makes a conflict of a key that another request holds.
func inUse(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Busy {
		return err
	}
	conflict := *f
	conflict.Kind = fault.Conflict
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

// carryOut runs the endpoint under its key. Unless the answer is stored, the
// key is given back, after a panic too: the ids that a repeat derives from the
// key let it find what was done.
func (a *api) carryOut(c *call, claim idempotency.Claim, e endpoint) (*reply, error) {
	stored := false
	defer func() {
		if !stored {
			a.settle(c, "release an idempotency key", func(ctx context.Context) error {
				return a.Idempotency.Release(ctx, claim)
			})
		}
	}()
	rep, err := e(c)
	if err != nil || rep.status < 200 || rep.status > 299 {
		return rep, err
	}
	answer := idempotency.Answer{Status: rep.status, Header: map[string]string{}, Body: rep.body}
	if rep.kept != nil {
		answer.Body = rep.kept
	}
	for name := range rep.header {
		answer.Header[name] = rep.header.Get(name)
	}
	stored = a.settle(c, "store an answer by its idempotency key", func(ctx context.Context) error {
		return a.Idempotency.Finish(ctx, claim, answer)
	})
	return rep, nil
}

// settle does something with a key even when the caller has gone; a failure
// does not change the answer. It takes what is left of the function's time where it
// must: a repeat that finds no answer is told how things are by then.
func (a *api) settle(c *call, what string, do func(context.Context) error) bool {
	left := settleTime
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
