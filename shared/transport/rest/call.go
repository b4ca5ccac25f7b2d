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
	"github.com/rethread/rethread/shared/domain/session"
)

// endpoint carries out one request. An error becomes a problem.
type endpoint func(c *call) (*reply, error)

// call is one request on its way to an endpoint.
type call struct {
	*http.Request
	caller    access.Caller
	user      string            // as whom the store is asked: the caller, or whose guest they are
	pass      access.Permission // what the caller may do with the session that the path names
	requestID string
	body      []byte // what withBody read
	key       string // the Idempotency-Key, "" where none was given
	claim     string // names what keeps its answer
	newID     func() string
}

// serve makes a handler of an endpoint. It always answers: errors and panics
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
	user := userOf(r.Context())
	return &call{
		Request: r, user: user, requestID: requestIDOf(r.Context()), newID: a.NewID,
		caller: access.Caller{UserID: user, Admin: access.Admin(scopeOf(r.Context()), a.AdminScope)},
	}
}

// on lets an endpoint do something with the session that the path names, for
// those who may. It is tried as the caller's own session first, so it may do
// nothing before the store has refused strangers.
func (a *api) on(action access.Action, e endpoint) endpoint {
	return func(c *call) (*reply, error) {
		id, err := c.sessionID()
		if err != nil {
			return nil, err
		}
		var rep *reply
		err = a.gate.Do(c.Context(), c.caller, id, action, func(p access.Permission) error {
			c.pass, c.user = p, p.Owner
			var err error
			rep, err = e(c)
			return err
		})
		return rep, err
	}
}

// shown is a session as the caller sees it.
func (c *call) shown(s session.Session) session.Session {
	s.Access = c.pass.Label()
	return s
}

func (a *api) answer(c *call, e endpoint) (rep *reply) {
	defer a.recovered(c, &rep)
	if c.user == "" {
		return a.problem(c, fault.New(fault.Unauthorized, "no identity: send a bearer token"))
	}
	rep, err := e(c)
	if err != nil {
		return a.problem(c, err)
	}
	return rep
}

// recovered, deferred, makes a problem of a panic: one that got out would end
// the process and the other requests that it could have served.
func (a *api) recovered(c *call, rep **reply) {
	if v := recover(); v != nil {
		a.Log.ErrorContext(c.Context(), "panic",
			"method", c.Method, "path", c.URL.Path, "panic", v, "stack", string(debug.Stack()))
		*rep = problemReply(problem.New(problem.Internal(), c.requestID))
	}
}

// derivedID is an id for something that the request makes. A request with an
// idempotency key gets the same id every time it is tried, so that a try after
// a crash finds what the one before it did.
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

// pathID reads an id out of the path.
func (c *call) pathID(name string) (string, error) {
	id := chi.URLParam(c.Request, name)
	if c.URL.RawPath != "" { // the router has matched the encoded path
		decoded, err := url.PathUnescape(id)
		if err != nil {
			return "", fault.Field(fault.Malformed, name, "must be percent-encoded UTF-8")
		}
		id = decoded
	}
	return id, fault.CheckID(name, id)
}

func (c *call) sessionID() (string, error) { return c.pathID("session_id") }
