package rethread_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	rethread "github.com/rethread/rethread/clients/go"
)

// arguments is the table of clients/cases that all clients have in common.
type arguments struct {
	Segments    map[string]string
	NoSegments  []string `json:"no_segments"`
	Tokens      []string
	NoTokens    []string `json:"no_tokens"`
	Addresses   []string
	NoAddresses []string `json:"no_addresses"`
}

func mustReadArguments(t *testing.T) arguments {
	t.Helper()
	raw, err := os.ReadFile("../cases/tables/arguments.json")
	if err != nil {
		t.Fatal(err)
	}
	var out arguments
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	got := [...]int{
		len(out.Segments), len(out.NoSegments), len(out.Tokens), len(out.NoTokens), len(out.Addresses), len(out.NoAddresses),
	}
	for i, least := range [...]int{17, 3, 4, 11, 7, 12} {
		if got[i] < least {
			t.Fatalf("only %v cases", got)
		}
	}
	return out
}

// unreachable fails the test if a request is sent.
type unreachable struct{ t *testing.T }

func (u unreachable) RoundTrip(r *http.Request) (*http.Response, error) {
	u.t.Errorf("sent %s %s", r.Method, r.URL)
	return nil, errors.New("unreachable")
}

func clientOf(t *testing.T, transport http.RoundTripper, tokens ...string) *rethread.Client {
	t.Helper()
	source := func(_ context.Context, rejected string) (string, error) {
		if rejected != "" {
			return tokens[len(tokens)-1], nil
		}
		return tokens[0], nil
	}
	client, err := rethread.New(rethread.Config{
		URL: "https://api.example/api/v1", Token: source, HTTP: &http.Client{Transport: transport},
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// roundTrip is a function that answers requests.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answerWith(status int, asked *[]string) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		*asked = append(*asked, r.URL.EscapedPath())
		return &http.Response{StatusCode: status, Body: http.NoBody, Header: http.Header{}, Request: r}, nil
	}
}

func TestSegmentsAreEscaped(t *testing.T) {
	t.Parallel()
	for name, segment := range mustReadArguments(t).Segments {
		var asked []string
		err := clientOf(t, answerWith(http.StatusNoContent, &asked), "token").Artifacts.Delete(t.Context(), "s", name)
		if want := "/api/v1/sessions/s/artifacts/" + segment; err != nil || len(asked) != 1 || asked[0] != want {
			t.Errorf("%q: asked for %q, not %q: %v", name, asked, want, err)
		}
	}
}

// callsOf has a call for each place of a path.
func callsOf(ctx context.Context, c *rethread.Client, name string) map[string]func() error {
	return map[string]func() error{
		"session":    func() error { return c.Sessions.Delete(ctx, name) },
		"artifact":   func() error { return c.Artifacts.Delete(ctx, "s", name) },
		"task":       func() error { return c.Tasks.Delete(ctx, "s", name) },
		"share":      func() error { return c.Shares.Revoke(ctx, "s", name) },
		"automation": func() error { return c.Automations.Delete(ctx, name) },
		"webhook":    func() error { return c.Webhooks.Delete(ctx, name) },
		"import":     func() error { return c.Imports.Abandon(ctx, name) },
		"A2A task":   func() error { return c.A2A.DeleteTask(ctx, name) },
		"versions": func() error {
			_, err := c.Artifacts.Versions("s", name, rethread.ListQuery{}).Collect(ctx)
			return err
		},
		"run":    func() error { _, err := c.Runs.Cancel(ctx, "s", name); return err },
		"export": func() error { _, err := c.Sessions.Export(ctx, name); return err }, //nolint:bodyclose // it fails
		"watch":  func() error { return watchError(ctx, c, name) },
	}
}

func watchError(ctx context.Context, c *rethread.Client, id string) (ended error) {
	for _, err := range c.Watch(ctx, id) {
		ended = err
	}
	return ended
}

func TestWhatIsNoSegmentIsRefused(t *testing.T) {
	t.Parallel()
	client := clientOf(t, unreachable{t}, "token")
	for _, name := range append(mustReadArguments(t).NoSegments, "\xff") {
		calls := callsOf(t.Context(), client, name)
		for what, call := range calls {
			if err := call(); !errors.Is(err, rethread.ErrInvalid) || !strings.Contains(err.Error(), "is not an id") {
				t.Errorf("%s %q: %v", what, name, err)
			}
		}
		if len(calls) != 12 {
			t.Errorf("%d calls", len(calls))
		}
	}
}

func TestTokensThatCannotBeSentAreRefused(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	check := func(what string, err error) {
		if !errors.Is(err, rethread.ErrInvalid) || !strings.Contains(err.Error(), "token: ") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, token := range mustReadArguments(t).NoTokens {
		client := clientOf(t, unreachable{t}, token)
		_, err := client.Sessions.Get(ctx, "s")
		check("a call", err)
		check("watching", watchError(ctx, client, "s"))
		var asked []string
		_, err = clientOf(t, answerWith(http.StatusUnauthorized, &asked), "good", token).Sessions.Get(ctx, "s")
		if check("a renewed token", err); len(asked) != 1 {
			t.Errorf("asked %d times", len(asked))
		}
	}
	for _, token := range mustReadArguments(t).Tokens {
		var asked []string
		if err := clientOf(t, answerWith(http.StatusNoContent, &asked), token).Sessions.Delete(ctx, "s"); err != nil {
			t.Errorf("%q: %v", token, err)
		}
	}
}

func TestAddressesThatCannotBeAskedAreRefused(t *testing.T) {
	t.Parallel()
	const valid = "https://api.example/api/v1"
	for _, address := range mustReadArguments(t).NoAddresses {
		_, err := rethread.New(rethread.Config{URL: address, Token: rethread.StaticToken("token")})
		if !errors.Is(err, rethread.ErrInvalid) || !strings.Contains(err.Error(), "URL: ") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", address, err)
		}
		_, err = rethread.New(rethread.Config{URL: valid, StreamURL: address, Token: rethread.StaticToken("token")})
		if address != "" && (err == nil || !strings.Contains(err.Error(), "StreamURL: ")) {
			t.Errorf("%q for streams: %v", address, err)
		}
	}
	for _, address := range mustReadArguments(t).Addresses {
		if _, err := rethread.New(rethread.Config{URL: address, StreamURL: address, Token: rethread.StaticToken("token")}); err != nil {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestHeadersThatCannotBeSentAreRefused(t *testing.T) {
	t.Parallel()
	client := clientOf(t, unreachable{t}, "token")
	_, created := client.Sessions.Create(t.Context(), rethread.SessionRequest{}, rethread.WithIdempotencyKey("a\nb"))
	_, updated := client.Sessions.Update(t.Context(), "s", rethread.SessionChange{}, rethread.IfMatch("a\nb"))
	_, put := client.Artifacts.Put(t.Context(), "s", "a", rethread.Upload{MIMEType: "text/ü"})
	for name, err := range map[string]error{"Idempotency-Key": created, "If-Match": updated, "Content-Type": put} {
		if !errors.Is(err, rethread.ErrInvalid) || !strings.Contains(err.Error(), "header "+name+": ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	works := rethread.Config{URL: "http://127.0.0.1:1/api/v1", Token: rethread.StaticToken("alice"), User: "auth0|ålice"}
	if _, err := rethread.New(works); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*rethread.Config){
		"no token":           func(c *rethread.Config) { c.Token = nil },
		"a negative timeout": func(c *rethread.Config) { c.Timeout = -time.Second },
		"a long user":        func(c *rethread.Config) { c.User = strings.Repeat("u", 257) },
		"a user of bytes":    func(c *rethread.Config) { c.User = "\xff" },
		"no address":         func(c *rethread.Config) { c.URL = "" },
		"another scheme":     func(c *rethread.Config) { c.StreamURL = "ws://127.0.0.1:1" },
	} {
		c := works
		change(&c)
		if _, err := rethread.New(c); !errors.Is(err, rethread.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
