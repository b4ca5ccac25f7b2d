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

// endpoint handles one request. Its error becomes a problem.
type endpoint func(c *call) (*reply, error)

// call is one request while it is handled.
type call struct {
	*http.Request
	caller     access.Caller
	user       string            // the session's owner for the store: the caller, or the caller's host
	permission access.Permission // of the caller for the session in the path
	requestID  string
	body       []byte // what withBody read
	key        string // the Idempotency-Key, "" where none was given
	findOnly   bool   // whether the endpoint may only find what an earlier attempt did
	claim      string // name of the key's record, which stores the answer
	newID      func() string
}

// serve turns an endpoint into a handler that always answers: errors and panics
// become problems.
func (a *api) serve(e endpoint) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := a.newCall(r)
		if c.requestID == "" {
			c.requestID = a.NewID()
		}
		a.write(w, c, a.answer(c, e)) //nolint:contextcheck // the call carries the request and so its context
	}
}

func (a *api) newCall(r *http.Request) *call {
	caller := access.CallerOf(r.Context())
	return &call{
		Request: r, user: caller.UserID, requestID: requestIDOf(r.Context()), newID: a.NewID, caller: caller,
	}
}

// on runs an endpoint for callers with the permission for the session in the
// path. The endpoint is first tried with the caller as the owner, so it must
// not have effects before the store has refused other users.
func (a *api) on(action access.Action, e endpoint) endpoint {
	return func(c *call) (*reply, error) {
		id, err := c.sessionID()
		if err != nil {
			return nil, err
		}
		var rep *reply
		err = a.gate.Do(c.Context(), c.caller, id, action, func(p access.Permission) error {
			c.permission, c.user = p, p.Owner
			var err error
			rep, err = e(c)
			return err
		})
		return rep, err
	}
}

// asCallerSees returns a session as the caller may see it.
func (c *call) asCallerSees(s session.Session) session.Session {
	s.Access = c.permission.Label()
	return s
}

func (a *api) answer(c *call, e endpoint) (rep *reply) {
	defer a.recoverAsProblem(c, &rep)
	if c.user == "" {
		return a.problem(c, fault.New(fault.Unauthorized, "no identity: send a bearer token"))
	}
	rep, err := e(c)
	if err != nil {
		return a.problem(c, err)
	}
	return rep
}

// recoverAsProblem, when deferred, turns a panic into a problem: otherwise it
// would end the process and its other requests.
func (a *api) recoverAsProblem(c *call, rep **reply) {
	if v := recover(); v != nil {
		a.Log.ErrorContext(c.Context(), "panic",
			"method", c.Method, "path", c.URL.Path, "panic", v, "stack", string(debug.Stack()))
		*rep = problemReply(problem.New(problem.Internal(), c.requestID))
	}
}

// derivedID returns an id for an object that the request creates. Tries with
// the same idempotency key get the same id, so a try after a crash finds the
// work of the one before.
func (c *call) derivedID(of string) (string, error) {
	if c.key == "" {
		return c.newID(), nil
	}
	name, err := json.Marshal([]string{"rethread", c.caller.UserID, c.key, c.Method, c.URL.Path, of})
	if err != nil {
		return "", fmt.Errorf("derive an id: %w", err)
	}
	return uuid.NewSHA1(uuid.NameSpaceURL, name).String(), nil
}

// pathID reads an id from the path.
func (c *call) pathID(name string) (string, error) {
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

func (c *call) sessionID() (string, error) { return c.pathID("session_id") }
