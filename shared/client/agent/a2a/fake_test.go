package a2a_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/rethread/rethread/shared/client/agent/a2a"
	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/agent/agenttest"
	"github.com/rethread/rethread/shared/domain/run"
)

// a2aFake is a server of A2A whose answers are given beforehand, in order, by method.
type a2aFake struct {
	t    *testing.T
	url  string
	card string

	mu      sync.Mutex
	answers map[string][]http.HandlerFunc
	asked   []a2aAsked
	cards   int
}

// a2aAsked is a request that the fake got.
type a2aAsked struct {
	Method string
	Params map[string]any
	Header http.Header `json:"-"`
}

const (
	currentCard = `{"supportedInterfaces":[{"url":"URL/old","protocolBinding":"JSONRPC","protocolVersion":"0.3"},` +
		`{"url":"URL/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":{"streaming":true}}`
	pollingCard = `{"supportedInterfaces":[{"url":"URL/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`
	oldCard     = `{"url":"URL/rpc","protocolVersion":"0.3.0","preferredTransport":"JSONRPC","capabilities":{"streaming":true}}`
)

func newA2AFake(t *testing.T, card string) *a2aFake {
	t.Helper()
	f := &a2aFake{t: t, card: card, answers: map[string][]http.HandlerFunc{}}
	s := httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(s.Close)
	f.url = s.URL
	return f
}

func (f *a2aFake) agent() *a2a.Agent {
	return f.agentWith(agentconfig.Endpoint{Timeouts: agenttest.Patient()}, "")
}

func (f *a2aFake) agentWith(e agentconfig.Endpoint, card string) *a2a.Agent {
	e.URL = f.url
	a := a2a.New(e, card)
	f.t.Cleanup(a.Close)
	return a
}

func (f *a2aFake) serve(rw http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		f.mu.Lock()
		f.cards++
		f.mu.Unlock()
		if !strings.HasSuffix(r.URL.Path, "/.well-known/agent-card.json") {
			http.NotFound(rw, r)
			return
		}
		agenttest.Says("application/json", strings.ReplaceAll(f.card, "URL", f.url))(rw, r)
		return
	}
	var asked a2aAsked
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.URL.Path != "/rpc" {
		f.t.Errorf("a request for %s: %v", r.URL.Path, err)
	}
	asked.Header = r.Header
	f.mu.Lock()
	f.asked = append(f.asked, asked)
	answers := f.answers[asked.Method]
	if len(answers) == 0 {
		f.mu.Unlock()
		f.t.Errorf("an unexpected request %s", asked.Method)
		http.NotFound(rw, r)
		return
	}
	f.answers[asked.Method] = answers[1:]
	f.mu.Unlock()
	answers[0](rw, r)
}

// on adds an answer to a method.
func (f *a2aFake) on(method string, answer http.HandlerFunc) *a2aFake {
	f.answers[method] = append(f.answers[method], answer)
	return f
}

// methods returns the methods that were called, in order.
func (f *a2aFake) methods() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []string
	for _, a := range f.asked {
		out = append(out, a.Method)
	}
	return strings.Join(out, " ")
}

// message returns the message of the newest request.
func (f *a2aFake) message() map[string]any {
	f.mu.Lock()
	defer f.mu.Unlock()
	m, _ := f.asked[len(f.asked)-1].Params["message"].(map[string]any)
	return m
}

// results answers with a stream of results.
func results(all ...string) http.HandlerFunc {
	var out strings.Builder
	for _, r := range all {
		fmt.Fprintf(&out, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":%s}\n\n", r)
	}
	return agenttest.Streams(out.String())
}

// result answers with one result.
func result(r string) http.HandlerFunc {
	return agenttest.Says("application/json", `{"jsonrpc":"2.0","id":1,"result":`+r+`}`)
}

func rpcFailure(code int, message string) http.HandlerFunc {
	return agenttest.Says("application/json", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"error":{"code":%d,"message":%q}}`, code, message))
}

const ofTask = `"taskId":"t1","contextId":"c1"`

// task returns a task with a state and more members.
func task(state string, more ...string) string {
	rest := ""
	for _, m := range more {
		rest += "," + m
	}
	return `{"task":{"id":"t1","contextId":"c1","status":{"state":"` + state + `"}` + rest + `}}`
}

// chunk returns an update of an artifact.
func chunk(id, parts string, more bool) string {
	return fmt.Sprintf(`{"artifactUpdate":{%s,"append":%v,"artifact":{"artifactId":%q,"parts":[%s]}}}`, ofTask, more, id, parts)
}

// status returns an update of the status, with a message if it has parts.
func status(state, id, parts string) string {
	message := ""
	if parts != "" {
		message = fmt.Sprintf(`,"message":{"messageId":%q,"role":"ROLE_AGENT","parts":[%s]}`, id, parts)
	}
	return `{"statusUpdate":{` + ofTask + `,"status":{"state":"` + state + `"` + message + `}}}`
}

// then returns the request of the next run of a session: its history so far, what was
// recorded, and another input.
func then(t *testing.T, req run.Request, r *agenttest.Recorder, texts ...string) run.Request {
	t.Helper()
	next := agenttest.Ask(t, texts...)
	next.RunID = req.RunID + "+"
	for i := range next.Events {
		next.Events[i].InvocationID = next.RunID
	}
	next.Events = append(append(append(req.Events[:len(req.Events):len(req.Events)], req.Said...), r.Events...), next.Events...)
	return positioned(next)
}

// positioned gives the events of a request their positions.
func positioned(req run.Request) run.Request {
	for i := range req.Events {
		req.Events[i].Seq = int64(i + 1)
	}
	return req
}

// dropped answers with the beginning of a stream and cuts the connection.
func dropped(all ...string) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		results(all...)(rw, r)
		if f, ok := rw.(http.Flusher); ok {
			f.Flush()
		}
		panic(http.ErrAbortHandler)
	}
}
