package a2a

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime/debug"
	"time"

	lib "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/go-chi/chi/v5"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/problem"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/transport/cors"
)

var errUnsupportedType = lib.NewError(lib.ErrUnsupportedContentType, "send application/json")

const (
	// maxBody is the gateway's limit, in bytes.
	maxBody = 10 << 20
	// keepAlive is the interval of comments on an idle stream.
	keepAlive = 15 * time.Second

	versionHeader = "A2a-Version" // in canonical form
)

// server answers the requests for all agents.
type server struct {
	Config
	mux  *chi.Mux
	gate *access.Gate
}

func newServer(c Config) *server {
	s := &server{Config: c, mux: chi.NewMux(), gate: access.NewGate(c.Grants, c.Now, c.Log)}
	s.mux.NotFound(func(w http.ResponseWriter, _ *http.Request) { refuse(w, fault.RouteNotFound, "nothing is here") })
	s.mux.Get("/.well-known/agent-card.json", s.defaultCard)
	s.mux.Get("/a2a/{agent}/.well-known/agent-card.json", s.agentCard)
	s.mux.Get("/a2a/.well-known/jwks.json", s.publicKeys)
	s.mux.Post("/a2a/{agent}", s.forAgent(s.rpc))
	s.mux.Post("/a2a/{agent}/", s.forAgent(s.rpc))
	s.mux.Handle("/a2a/{agent}/*", s.forAgent(s.rest))
	return s
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer s.recover(r.Context(), w) // a panic must not end the process
	for name, value := range cors.Headers(s.AllowedOrigin) {
		w.Header().Set(name, value)
	}
	s.mux.ServeHTTP(w, r)
}

func (s *server) recover(ctx context.Context, w http.ResponseWriter) {
	if v := recover(); v != nil {
		s.Log.ErrorContext(ctx, "panic", "panic", v, "stack", string(debug.Stack()))
		refuse(w, fault.Internal, "Internal error.")
	}
}

// refuse answers a request outside the protocol with a problem (RFC 9457).
func refuse(w http.ResponseWriter, code fault.Code, detail string) {
	problem.New(fault.New(code, "%s", detail), "").Write(w)
}

// forAgent serves requests for configured agents only.
func (s *server) forAgent(serve func(http.ResponseWriter, *http.Request, a2asrv.RequestHandler)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		agent := s.agentOf(r)
		switch {
		case access.CallerOf(r.Context()).UserID == "":
			refuse(w, fault.NoIdentity, "send a bearer token")
			return
		case !s.Agents.HasAgent(agent):
			refuse(w, fault.AgentNotFound, "no agent has this name")
			return
		case !s.Agents.MayCall(r.Context(), agent):
			refuse(w, fault.AgentForbidden, "you may not call this agent")
			return
		}
		activateExtensions(w, r)
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		serve(w, r, s.handler(agent))
	}
}

// handler returns the protocol's methods for one agent.
func (s *server) handler(agent string) a2asrv.RequestHandler {
	return &a2asrv.InterceptedHandler{
		Handler:      &handler{Config: s.Config, agent: agent, gate: s.gate},
		Interceptors: []a2asrv.CallInterceptor{guard{log: s.Log}},
		Logger:       s.Log,
	}
}

func (s *server) options() []a2asrv.TransportOption {
	return []a2asrv.TransportOption{
		a2asrv.WithTransportKeepAlive(keepAlive),
		a2asrv.WithTransportPanicHandler(func(v any) error {
			s.Log.Error("panic", "panic", v)
			return lib.ErrInternalError
		}),
	}
}

// rpc answers JSON-RPC in the protocol version of the request.
func (s *server) rpc(w http.ResponseWriter, r *http.Request, h a2asrv.RequestHandler) {
	body, ok := readBody(w, r)
	if !ok {
		return
	}
	body = withJSONNames(body)
	if !isJSON(r) {
		// The guard answers, with a null id whatever the body is.
		body, r = []byte(`{"jsonrpc":"2.0","id":null,"method":"GetTask","params":{}}`), withUnsupportedType(r)
	}
	if reason := invalidReason(body); reason != "" {
		writeInvalidRequest(w, body, reason)
		return
	}
	old := version(r) == legacy || version(r) == "" && legacyMethod(body)
	call, body := readCall(body)
	message, err := checkRPCBody(body)
	r = withSentMessage(r, message)
	if err != nil && !hasUnsupportedType(r.Context()) {
		body, r = placeholderRequest(call.method, old), withBodyError(r, err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	plain := jsonErrorWriter{w}
	if old { // its clients read streams only, even for an error before the first event
		w.Header().Set("Content-Type", "application/json")
		out := newRPCWriter(plain, call)
		defer out.close()
		r = r.WithContext(withVersion(r.Context(), legacy))
		a2av0.NewJSONRPCHandler(h, s.options()...).ServeHTTP(out, r)
		return
	}
	first := newFirstEventWriter(plain)
	defer first.close()
	out := newRPCWriter(first, call)
	defer out.close()
	a2asrv.NewJSONRPCHandler(h, s.options()...).ServeHTTP(out, r)
}

// readBody reads the whole body, or answers 413.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		refuse(w, fault.BodyTooLarge, fmt.Sprintf("the body cannot be read, or has more than %d MB", maxBody>>20))
	}
	return body, err == nil
}

// pathParameter returns a decoded part of the path, or the raw one if it cannot
// be decoded.
func pathParameter(r *http.Request, name string) string {
	value := chi.URLParam(r, name)
	if r.URL.RawPath == "" { // the router has matched the decoded path
		return value
	}
	if decoded, err := url.PathUnescape(value); err == nil {
		return decoded
	}
	return value
}
