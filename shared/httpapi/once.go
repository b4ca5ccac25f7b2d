package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"time"

	"github.com/rethread/rethread/shared/fault"
	"github.com/rethread/rethread/shared/idempotency"
)

const (
	keyHeader      = "Idempotency-Key"
	replayedHeader = "Idempotency-Replayed"
	maxKey         = 255
	// settleTime bounds what is done with a key after the request itself.
	settleTime = 5 * time.Second
)

// once makes an endpoint that creates something safe to repeat: the same key
// and body give the same answer. Only what succeeded is kept; a request that
// failed gives its key back and may be tried again.
func (a *api) once(e endpoint) endpoint {
	return func(c *call) (*reply, error) {
		key, err := idempotencyKey(c.Header)
		if err != nil {
			return nil, err
		}
		if key == "" {
			return e(c)
		}
		c.key = key
		digest := sha256.Sum256(c.body)
		claim := idempotency.Claim{
			UserID: c.caller.UserID, Key: key, Route: c.Method + " " + c.URL.Path, Digest: hex.EncodeToString(digest[:]),
		}
		answer, err := a.Idempotency.Begin(c.Context(), claim)
		if err != nil {
			return nil, inUse(err)
		}
		if answer != nil {
			return replay(answer), nil
		}
		return a.carryOut(c, claim, e)
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
// does not change the answer.
func (a *api) settle(c *call, what string, do func(context.Context) error) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Context()), settleTime)
	defer cancel()
	if err := do(ctx); err != nil {
		a.Log.WarnContext(ctx, "idempotency", "operation", what, "error", err)
		return false
	}
	return true
}
