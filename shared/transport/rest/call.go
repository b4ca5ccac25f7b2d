package rest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/problem"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/session"
)

// Endpoint handles one request. Its error becomes a problem.
type Endpoint func(c *Call) (*Reply, error)

// Call is one request while it is handled.
type Call struct {
	*http.Request
	Caller     access.Caller
	User       string            // the session's owner for the store: the caller, or the caller's host
	Permission access.Permission // of the caller for the session in the path
	RequestID  string
	JSON       []byte // what WithBody read
	Key        string // the Idempotency-Key, "" where none was given
	FindOnly   bool   // whether the endpoint may only find what an earlier attempt did
	Claim      string // name of the key's record, which stores the answer
	newID      func() string
}

// serve turns an endpoint into a handler that always answers: errors and panics
// become problems.
func (a *API) serve(e Endpoint) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := a.NewCall(r)
		if c.RequestID == "" {
			c.RequestID = a.NewID()
		}
		a.Write(w, c, a.answer(c, e)) //nolint:contextcheck // the call carries the request and so its context
	}
}

// NewCall returns the call of a request that is answered without Serve.
func (a *API) NewCall(r *http.Request) *Call {
	caller := access.CallerOf(r.Context())
	return &Call{
		Request: r, User: caller.UserID, RequestID: requestIDOf(r.Context()), newID: a.NewID, Caller: caller,
	}
}

// On runs an endpoint for callers with the permission for the session in the
// path. The endpoint is first tried with the caller as the owner, so it must
// not have effects before the store has refused other users.
func (a *API) On(action access.Action, e Endpoint) Endpoint {
	return func(c *Call) (*Reply, error) {
		id, err := c.SessionID()
		if err != nil {
			return nil, err
		}
		var rep *Reply
		err = a.Gate.Do(c.Context(), c.Caller, id, action, func(p access.Permission) error {
			c.Permission, c.User = p, p.Owner
			var err error
			rep, err = e(c)
			return err
		})
		return rep, err
	}
}

// AsCallerSees returns a session as the caller may see it.
func (c *Call) AsCallerSees(s session.Session) session.Session {
	s.Access = c.Permission.Label()
	return s
}

func (a *API) answer(c *Call, e Endpoint) (rep *Reply) {
	defer a.recoverAsProblem(c, &rep)
	if c.User == "" {
		return a.Problem(c, fault.New(fault.Unauthorized, "no identity: send a bearer token"))
	}
	rep, err := e(c)
	if err != nil {
		return a.Problem(c, err)
	}
	return rep
}

// recoverAsProblem, when deferred, turns a panic into a problem: otherwise it
// would end the process and its other requests.
func (a *API) recoverAsProblem(c *Call, rep **Reply) {
	if v := recover(); v != nil {
		a.Log.ErrorContext(c.Context(), "panic",
			"method", c.Method, "path", c.URL.Path, "panic", v, "stack", string(debug.Stack()))
		*rep = ProblemReply(problem.New(problem.Internal(), c.RequestID))
	}
}

// DerivedID returns an id for an object that the request creates. Tries with
// the same idempotency key get the same id, so a try after a crash finds the
// work of the one before.
func (c *Call) DerivedID(of string) (string, error) {
	if c.Key == "" {
		return c.newID(), nil
	}
	name, err := json.Marshal([]string{"rethread", c.Caller.UserID, c.Key, c.Method, c.URL.Path, of})
	if err != nil {
		return "", fmt.Errorf("derive an id: %w", err)
	}
	return uuid.NewSHA1(uuid.NameSpaceURL, name).String(), nil
}

// PathID reads an id from the path.
func (c *Call) PathID(name string) (string, error) {
	id := chi.URLParam(c.Request, name)
	if c.URL.RawPath != "" { // the router has matched the encoded path
		decoded, err := url.PathUnescape(id)
		if err != nil {
			return "", fault.Field(fault.Malformed, name, "must be percent-encoded UTF-8")
		}
		id = decoded
	}
	return id, ids.Check(name, id)
}

// SessionID reads the id of a session from the path.
func (c *Call) SessionID() (string, error) { return c.PathID("session_id") }
