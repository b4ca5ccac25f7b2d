package rethread_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	rethread "github.com/rethread/rethread/clients/go"
)

// reply is an answer.
type reply struct {
	status         int
	body, location string
}

func (a reply) response(r *http.Request) *http.Response {
	header := http.Header{"Location": {a.location}}
	return &http.Response{StatusCode: a.status, Header: header, Body: io.NopCloser(strings.NewReader(a.body)), Request: r}
}

// deployment answers requests of a client without a network.
type deployment struct {
	mu     sync.Mutex
	answer func() reply // to who asks for the addresses
	asked  []string     // addresses
	tokens []string
}

// RoundTrip implements http.RoundTripper.
func (d *deployment) RoundTrip(r *http.Request) (*http.Response, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, r.URL.String())
	d.tokens = append(d.tokens, r.Header.Get("Authorization"))
	if !strings.HasSuffix(r.URL.Path, "/api/v1") {
		return reply{200, `{"data":{}}`, ""}.response(r), nil
	}
	return d.answer().response(r), nil
}

func (d *deployment) client(t *testing.T, c rethread.Config) *rethread.Client {
	t.Helper()
	c.HTTP, c.Token, c.Random = &http.Client{Transport: d}, rethread.StaticToken("token"), func() float64 { return 0 }
	client, err := rethread.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func naming(streams, socket string) func() reply {
	return func() reply {
		return reply{200, `{"data":{"stream_url":"` + streams + `","websocket_url":"` + socket + `"}}`, ""}
	}
}

const (
	streams = "https://streams.example/live"
	sockets = "wss://sockets.example/live"
	named   = "https://api.example/api/v1"
)

func TestCallsNeedNoAddressBesideTheirOwn(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"https://api.example", "https://api.example/", named, named + "/"} {
		d := &deployment{}
		if _, err := d.client(t, rethread.Config{URL: url}).Sessions.Get(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
		if want := []string{named + "/sessions/s"}; !slices.Equal(d.asked, want) {
			t.Errorf("with %s %v are asked", url, d.asked)
		}
	}
}

func TestStreamsFindTheirAddressWithOneRequestWithoutAToken(t *testing.T) {
	t.Parallel()
	d := &deployment{answer: naming(streams, sockets)}
	client := d.client(t, rethread.Config{URL: "https://api.example"})
	calls := []func() error{
		func() error { _, err := client.A2A.Keys(t.Context()); return err },
		func() error { _, err := client.WithUser("bob").A2A.Card(t.Context(), "demo"); return err },
		func() error {
			answer, err := client.Sessions.Export(t.Context(), "s")
			if err != nil {
				return err
			}
			return answer.Body.Close()
		},
		func() error {
			got, err := client.Addresses(t.Context())
			if want := (rethread.Addresses{StreamURL: streams, WebSocketURL: sockets}); got != want {
				t.Errorf("got %+v", got)
			}
			return err
		},
	}
	var all sync.WaitGroup
	for _, call := range calls {
		all.Go(func() {
			if err := call(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	slices.Sort(d.asked)
	want := []string{
		named, streams + "/a2a/.well-known/jwks.json", streams + "/a2a/demo/.well-known/agent-card.json",
		streams + "/api/v1/sessions/s/export",
	}
	if !slices.Equal(d.asked, want) {
		t.Errorf("%v are asked", d.asked)
	}
	if slices.Sort(d.tokens); d.tokens[0] != "" || d.tokens[1] != "Bearer token" {
		t.Errorf("the tokens are %q", d.tokens)
	}
}

func TestADeploymentThatNamesNoneGetsNoToken(t *testing.T) {
	t.Parallel()
	cases := map[string]func() reply{
		"no document":                func() reply { return reply{404, `{"message":"Not Found"}`, ""} },
		"a page":                     func() reply { return reply{200, "<html>", ""} },
		"a list":                     func() reply { return reply{200, "[]", ""} },
		"nothing":                    func() reply { return reply{200, `{"data":{}}`, ""} },
		"no addresses":               naming("/live", "sockets"),
		"streams without encryption": naming("http://streams.example", sockets),
		"sockets without encryption": naming(streams, "ws://sockets.example"),
		"a redirect":                 func() reply { return reply{307, "", "https://other.example/api/v1"} },
	}
	for name, answer := range cases {
		d := &deployment{answer: answer}
		client := d.client(t, rethread.Config{URL: "https://api.example"})
		for count := 1; count <= 2; count++ { // the next call asks again
			_, err := client.A2A.Keys(t.Context())
			if !errors.Is(err, rethread.ErrInvalid) || !strings.Contains(err.Error(), named+" does not name") {
				t.Errorf("%s: %v", name, err)
			}
			if len(d.asked) != count || d.asked[count-1] != named || d.tokens[count-1] != "" {
				t.Errorf("%s: %v are asked with %q", name, d.asked, d.tokens)
			}
		}
		var err error
		for _, err = range client.Watch(t.Context(), "s") {
			if err != nil {
				break
			}
		}
		if !errors.Is(err, rethread.ErrInvalid) {
			t.Errorf("%s: watching ends with %v", name, err)
		}
	}
	if len(cases) < 8 {
		t.Errorf("only %d cases", len(cases))
	}
}

func TestAFailureToFindAddressesIsOneOfTheCall(t *testing.T) {
	t.Parallel()
	answers := []func() reply{func() reply { return reply{503, "{}", ""} }, naming(streams, sockets)}
	d := &deployment{}
	d.answer = func() reply { return answers[min(len(d.asked), len(answers))-1]() }
	if _, err := d.client(t, rethread.Config{URL: "https://api.example"}).A2A.Keys(t.Context()); err != nil || len(d.asked) != 3 {
		t.Errorf("%v, %v", d.asked, err)
	}
	d = &deployment{answer: func() reply { return reply{403, "{}", ""} }}
	if _, err := d.client(t, rethread.Config{URL: "https://api.example"}).A2A.Keys(t.Context()); !errors.Is(err, rethread.ErrForbidden) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	cancel(gone)
	d = &deployment{answer: naming(streams, sockets)}
	if _, err := d.client(t, rethread.Config{URL: "https://api.example"}).A2A.Keys(ctx); !errors.Is(err, gone) {
		t.Error(err)
	}
}

func TestAddressesLastAnHourAndLongerWhileThereAreNoOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answers := []func() reply{
			naming(streams, sockets), func() reply { return reply{403, "{}", ""} }, naming("https://moved.example", sockets),
		}
		asked := 0
		d := &deployment{answer: func() reply { asked++; return answers[asked-1]() }}
		client := d.client(t, rethread.Config{URL: "https://api.example"})
		for _, step := range []struct {
			wait  time.Duration
			want  string
			asked int
		}{{0, streams, 1}, {59 * time.Minute, streams, 1}, {time.Minute, streams, 2}, {time.Hour, "https://moved.example", 3}} {
			time.Sleep(step.wait)
			got, err := client.Addresses(t.Context())
			if err != nil || got.StreamURL != step.want || asked != step.asked {
				t.Errorf("%v later it is %+v after %d questions: %v", step.wait, got, asked, err)
			}
		}
	})
}

func TestWithoutEncryptionAnyMayBeNamed(t *testing.T) {
	t.Parallel()
	d := &deployment{answer: naming("http://127.0.0.1:3000", "ws://127.0.0.1:3001")}
	client := d.client(t, rethread.Config{URL: "http://127.0.0.1:3000"})
	if got, err := client.Addresses(t.Context()); err != nil || got.WebSocketURL != "ws://127.0.0.1:3001" {
		t.Errorf("%+v, %v", got, err)
	}
}
