package a2a

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	lib "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/problem"
	"github.com/rethread/rethread/shared/transport/frontend"
)

var errUnsupportedType = lib.NewError(lib.ErrUnsupportedContentType, "send application/json")

const versionHeader = "A2a-Version" // in canonical form

// server answers the requests for all agents.
type server struct {
	*frontend.Server
	Config
}

// New returns the server for all agents.
func New(front frontend.Config, c Config) http.Handler {
	s := &server{frontend.NewServer(front, "a2a"), c}
	s.Mux.NotFound(func(w http.ResponseWriter, _ *http.Request) { refuse(w, fault.RouteNotFound, "nothing is here") })
	s.Mux.Get("/.well-known/agent-card.json", s.defaultCard)
	s.Mux.Get("/a2a/{agent}/.well-known/agent-card.json", s.agentCard)
	s.Mux.Get("/a2a/.well-known/jwks.json", s.publicKeys)
	s.Mux.Post("/a2a/{agent}", s.forAgent(s.rpc))
	s.Mux.Post("/a2a/{agent}/", s.forAgent(s.rpc))
	s.Mux.Handle("/a2a/{agent}/*", s.forAgent(s.rest))
	return s
}

// refuse answers a request outside the protocol with a problem (RFC 9457).
func refuse(w http.ResponseWriter, code fault.Code, detail string) {
	problem.New(fault.New(code, "%s", detail), "").Write(w)
}

// forAgent serves requests for configured agents only.
func (s *server) forAgent(serve func(http.ResponseWriter, *http.Request, a2asrv.RequestHandler)) http.HandlerFunc {
	return s.Handle(func(w http.ResponseWriter, r *http.Request, agent string) error {
		activateExtensions(w, r)
		r.Body = http.MaxBytesReader(w, r.Body, frontend.MaxBody)
		serve(w, r, s.handler(agent))
		return nil
	})
}

// handler returns the protocol's methods for one agent.
func (s *server) handler(agent string) a2asrv.RequestHandler {
	return &a2asrv.InterceptedHandler{
		Handler:      &handler{s, agent},
		Interceptors: []a2asrv.CallInterceptor{guard{log: s.Log}},
		Logger:       s.Log,
	}
}

func (s *server) options() []a2asrv.TransportOption {
	return []a2asrv.TransportOption{
		a2asrv.WithTransportKeepAlive(s.KeepAlive),
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
		refuse(w, fault.BodyTooLarge, fmt.Sprintf("the body cannot be read, or has more than %d MB", frontend.MaxBody>>20))
	}
	return body, err == nil
}
