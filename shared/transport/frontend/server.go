package frontend

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/base/problem"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/follow"
	"github.com/rethread/rethread/shared/transport/gateway"
)

// MaxBody is the gateway's limit, in bytes.
const MaxBody = 10 << 20

// Server answers the requests for all agents.
type Server struct {
	Config

	Mux     *chi.Mux
	subject string
	Gate    *access.Gate
}

// NewServer returns a server without any requests of its own but those that are not
// found. subject is the subject of its streams' leases.
func NewServer(c Config, subject string) *Server {
	for field, value := range map[*time.Duration]time.Duration{
		&c.CheckEvery: 20 * time.Second, &c.StreamTurn: 90 * time.Second, &c.KeepAlive: 15 * time.Second,
	} {
		if *field == 0 {
			*field = value
		}
	}
	s := &Server{Config: c, Mux: chi.NewMux(), subject: subject, Gate: access.NewGate(c.Grants, c.Now, c.Log)}
	s.Mux.NotFound(s.Handle(func(http.ResponseWriter, *http.Request, string) error {
		return fault.New(fault.RouteNotFound, "Page not found")
	}))
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer s.recover(r.Context(), w) // a panic must not end the process
	s.allow(w)
	s.Mux.ServeHTTP(w, r)
}

// allow lets pages of the allowed origin read an answer.
func (s *Server) allow(w http.ResponseWriter) {
	for name, value := range gateway.CORS(s.AllowedOrigin) {
		w.Header().Set(name, value)
	}
}

// Refuse answers a request that did not reach a handler.
func (s *Server) Refuse(w http.ResponseWriter, err error) {
	s.RefuseAs(w, err, writeProblem)
}

// RefuseAs is Refuse with the answer that write writes.
func (s *Server) RefuseAs(w http.ResponseWriter, err error, write func(http.ResponseWriter, *fault.Error)) {
	s.allow(w)
	f, _ := problem.Of(err)
	write(w, f)
}

func (s *Server) recover(ctx context.Context, w http.ResponseWriter) {
	if v := recover(); v != nil {
		s.Log.ErrorContext(ctx, "panic", "panic", v, "stack", string(debug.Stack()))
		writeProblem(w, problem.Internal())
	}
}

// Handle serves requests of callers for configured agents only. An error, which is
// always one before the stream, is answered with a problem and its status.
func (s *Server) Handle(serve func(w http.ResponseWriter, r *http.Request, agent string) error) http.HandlerFunc {
	return s.Serve("send a bearer token", writeProblem, func(w http.ResponseWriter, r *http.Request) error {
		agent := s.AgentOf(r)
		switch {
		case chi.URLParam(r, "agent") != "" && !s.Agents.HasAgent(agent):
			return fault.New(fault.AgentNotFound, "no agent has this name")
		case chi.URLParam(r, "agent") != "" && !s.Agents.MayCall(r.Context(), agent):
			return fault.New(fault.AgentForbidden, "you may not call this agent")
		}
		return serve(w, r, agent)
	})
}

// Serve serves requests of callers only; others are told to log in. write answers with an
// error, which is logged if it is the server's.
func (s *Server) Serve(login string, write func(http.ResponseWriter, *fault.Error), serve func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := error(fault.New(fault.Unauthorized, "%s", login))
		if access.CallerOf(r.Context()).UserID != "" {
			err = serve(w, r)
		}
		if err == nil {
			return
		}
		f, expected := problem.Of(err)
		if !expected && r.Context().Err() == nil {
			s.Log.ErrorContext(r.Context(), "a call failed", "path", r.URL.Path, "error", err)
		}
		write(w, f)
	}
}

func writeProblem(w http.ResponseWriter, f *fault.Error) { problem.New(f, "").Write(w) }

// AgentOf returns the agent that a path names: "~" replaces the "/" between
// namespace and name.
func (s *Server) AgentOf(r *http.Request) string {
	segment := PathParameter(r, "agent")
	if s.Agents.HasAgent(segment) {
		return segment
	}
	return strings.Replace(segment, "~", "/", 1)
}

// PathParameter returns a decoded part of the path, or the raw one if it cannot be
// decoded.
func PathParameter(r *http.Request, name string) string {
	value := chi.URLParam(r, name)
	if r.URL.RawPath == "" { // the router has matched the decoded path
		return value
	}
	if decoded, err := url.PathUnescape(value); err == nil {
		return decoded
	}
	return value
}

// ReadBody reads the body of a request, which must be JSON by its type.
func ReadBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, fault.New(fault.Malformed, "send application/json")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if err != nil {
		return nil, fault.New(fault.BodyTooLarge, "the body cannot be read, or has more than %d MB", MaxBody>>20)
	}
	return body, nil
}

// Do calls do with the caller's permission for an action on a session.
func (s *Server) Do(ctx context.Context, id string, a access.Action, do func(access.Permission) error) error {
	return s.Gate.Do(ctx, access.CallerOf(ctx), id, a, do)
}

// ReadSession reads a session if the caller may do the action with it. Its UserID is
// the owner.
func (s *Server) ReadSession(ctx context.Context, id string, a access.Action) (of session.Session, p access.Permission, err error) {
	err = s.Do(ctx, id, a, func(given access.Permission) error {
		p = given
		var err error
		of, err = s.Sessions.Get(ctx, p.Owner, id)
		return err
	})
	return of, p, err
}

// Answer answers a request with what was read of a session after ReadSession, unless the
// permission of a guest has ended since.
func (s *Server) Answer(ctx context.Context, w http.ResponseWriter, of session.Session, value any) error {
	if err := s.Recheck(ctx, of.UserID, of.ID); err != nil {
		return err
	}
	return WriteJSON(w, value)
}

// Recheck returns an error if what was just read of a session must not be sent: a guest's
// permission may have ended since the stream or the request began.
func (s *Server) Recheck(ctx context.Context, owner, sessionID string) error {
	return s.RecheckFor(ctx, owner, sessionID, access.Watch)
}

// RecheckFor is Recheck for an action.
func (s *Server) RecheckFor(ctx context.Context, owner, sessionID string, a access.Action) error {
	if owner == access.CallerOf(ctx).UserID {
		return nil
	}
	p, err := s.Gate.Permission(ctx, access.CallerOf(ctx), sessionID, a)
	if err == nil && p.Owner != owner { // another session has the id now
		return fault.Missing("Session")
	}
	return err
}

// WithLease calls do while it holds one of the caller's open streams.
func (s *Server) WithLease(ctx context.Context, do func(context.Context) error) error {
	leases := follow.Leases{Streams: s.Streams, Turn: s.StreamTurn, Subject: s.subject, Log: s.Log}
	var err error
	refused := leases.Do(ctx, access.CallerOf(ctx).UserID, func(ctx context.Context) { err = do(ctx) })
	return errors.Join(refused, err)
}

// Stop cancels the run in progress of a session, and keeps what it said: a person has
// read it. It returns the session's id and the cancelled run; the zero run without one.
func (s *Server) Stop(ctx context.Context, id string) (string, run.Run, error) {
	of, _, err := s.ReadSession(ctx, id, access.CancelRun)
	if err != nil || of.ActiveRunID == nil {
		return of.ID, run.Run{}, err
	}
	stopped, err := s.Runs.CancelAs(ctx, run.Ref{UserID: of.UserID, SessionID: of.ID, RunID: *of.ActiveRunID}, run.Keep)
	return of.ID, stopped, err
}

// WriteJSON answers a request with a value.
func WriteJSON(w http.ResponseWriter, value any) error {
	body, err := jsonx.Marshal(value)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // the caller may have left
	return nil
}
