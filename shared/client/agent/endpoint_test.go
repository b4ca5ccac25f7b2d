package agent_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rethread/rethread/shared/client/agent"
	"github.com/rethread/rethread/shared/domain/run"
)

const fine = "event: delta\ndata: {\"part\":0,\"text\":\"ab\"}\n\nevent: done\ndata: {}\n\n"

func TestRetries(t *testing.T) {
	const once, thrice = 1, 3
	for name, c := range map[string]struct {
		status int
		after  string // Retry-After
		tries  int64
	}{
		"bad gateway":                   {502, "", thrice},
		"unavailable":                   {503, "", thrice},
		"gateway timeout":               {504, "", thrice},
		"too many requests":             {429, "0", thrice},
		"a date in the past":            {429, "Sun, 06 Nov 1994 08:49:37 GMT", thrice},
		"an invalid date":               {429, "soon", thrice},
		"a wait that is too long":       {503, "11", once},
		"a date too far in the future":  {503, "Fri, 31 Dec 9999 23:59:59 GMT", once},
		"an error":                      {500, "0", once},
		"unauthorized":                  {401, "", once},
		"not found":                     {404, "", once},
		"a redirect without a location": {304, "", once},
	} {
		t.Run(name, func(t *testing.T) {
			var tries atomic.Int64
			a := newHTTP(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if body, err := io.ReadAll(r.Body); err != nil || !strings.Contains(string(body), `"run-1"`) {
					t.Errorf("try %d has the body %q, %v", tries.Load(), body, err)
				}
				if c.after != "" {
					rw.Header().Set("Retry-After", c.after)
				}
				tries.Add(1)
				rw.WriteHeader(c.status)
				_, _ = io.WriteString(rw, "<h1>\x00no\xff</h1>\n\n"+strings.Repeat("long ", 200))
			}))
			_, err := record(t, a, ask(t, "hi"))
			wantError(t, err, agent.CodeRefused, "answered with status")
			if tries.Load() != c.tries {
				t.Errorf("%d tries, want %d", tries.Load(), c.tries)
			}
			var failed *agent.Error
			if errors.As(err, &failed); c.status != 304 && (!strings.HasPrefix(failed.Detail, "<h1> no\uFFFD</h1> long") || len(failed.Detail) > 300) {
				t.Errorf("detail %q", failed.Detail)
			}
		})
	}
	t.Run("succeeds on a later attempt", func(t *testing.T) {
		var tries atomic.Int64
		a := newHTTP(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			switch tries.Add(1) {
			case 1:
				panic(http.ErrAbortHandler) // the connection breaks before any answer
			case 2:
				rw.WriteHeader(http.StatusServiceUnavailable)
			default:
				streams(fine)(rw, r)
			}
		}))
		if r := mustRecord(t, a, ask(t, "hi")); r.text() != "ab" {
			t.Errorf("got %q", r.log)
		}
	})
	t.Run("a port that refuses connections", func(t *testing.T) {
		s := httptest.NewServer(nil)
		s.Close()
		a := agent.NewHTTP(agent.Endpoint{URL: s.URL, Timeouts: patient()})
		_, err := record(t, a, ask(t, "hi"))
		wantError(t, err, agent.CodeUnreachable, "cannot be reached")
	})
	t.Run("does not retry once something has arrived", func(t *testing.T) {
		var tries atomic.Int64
		a := newHTTP(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			tries.Add(1)
			streams(sse(`delta {"part":0,"text":"a"}`))(rw, r)
			if err := http.NewResponseController(rw).Flush(); err != nil {
				t.Error(err)
			}
			panic(http.ErrAbortHandler)
		}))
		r, err := record(t, a, ask(t, "hi"))
		wantError(t, err, agent.CodeEndedEarly, "ended early")
		if tries.Load() != 1 || len(r.log) != 2 {
			t.Errorf("%d tries, %q", tries.Load(), r.log)
		}
	})
}

func TestTimeouts(t *testing.T) {
	const limit = 100 * time.Millisecond
	flush := func(rw http.ResponseWriter) {
		if err := http.NewResponseController(rw).Flush(); err != nil {
			t.Error(err)
		}
	}
	for name, c := range map[string]struct {
		timeouts agent.Timeouts
		answer   http.HandlerFunc
		says     string
	}{
		"no response header": {
			agent.Timeouts{FirstByte: limit},
			func(http.ResponseWriter, *http.Request) {},
			"did not answer in time",
		},
		"silence within the answer": {
			agent.Timeouts{Idle: limit},
			func(rw http.ResponseWriter, r *http.Request) { streams(sse(`item {}`))(rw, r); flush(rw) },
			"silent for 100ms",
		},
		"silence within an error response": {
			agent.Timeouts{Idle: limit},
			func(rw http.ResponseWriter, _ *http.Request) {
				rw.WriteHeader(http.StatusInternalServerError)
				flush(rw)
			},
			"silent for 100ms",
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := newHurriedHTTP(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				c.answer(rw, r)
				<-r.Context().Done()
			}), c.timeouts)
			_, err := record(t, a, ask(t, "hi"))
			wantError(t, err, agent.CodeTimeout, c.says)
		})
	}
	t.Run("no TLS handshake", func(t *testing.T) {
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() //nolint:errcheck // nothing was written
		a := agent.NewHTTP(agent.Endpoint{URL: "https://" + l.Addr().String(), Timeouts: agent.Timeouts{Connect: limit}})
		_, err = record(t, a, ask(t, "hi"))
		wantError(t, err, agent.CodeTimeout, "did not answer in time")
	})
}

func TestCancellation(t *testing.T) {
	gone := make(chan struct{}, 1)
	hang := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		text := sse(`item {}`)
		if strings.HasSuffix(r.URL.Path, "/chat/completions") {
			text = chunks(`{"choices":[{"delta":{"content":"a"}}]}`)
		}
		streams(text)(rw, r)
		if err := http.NewResponseController(rw).Flush(); err != nil {
			t.Error(err)
		}
		<-r.Context().Done()
		gone <- struct{}{}
	})
	for name, a := range map[string]run.Agent{
		"http":             newHTTP(t, hang),
		"chat completions": newChat(t, hang, agent.Chat{}),
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := cancelledBy(t)
			var at time.Time
			err := a.Run(ctx, ask(t, "hi"), func(run.Output) error {
				at = time.Now()
				cancel(errStopped)
				return nil
			})
			var failed *agent.Error
			if !errors.Is(err, errStopped) || errors.As(err, &failed) {
				t.Errorf("got %v, which is not the bare cause", err)
			}
			if d := time.Since(at); d > time.Second {
				t.Errorf("took %s to stop", d)
			}
			<-gone // the agent notices
		})
	}
	t.Run("before the answer", func(t *testing.T) {
		ctx, cancel := cancelledBy(t)
		a := newHTTP(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			cancel(errStopped)
			<-r.Context().Done()
		}))
		if err := a.Run(ctx, ask(t, "hi"), nil); !errors.Is(err, errStopped) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("between two attempts", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		a := newHTTP(t, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Retry-After", "9")
			rw.WriteHeader(http.StatusServiceUnavailable)
		}))
		if err := a.Run(ctx, ask(t, "hi"), nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

func TestRedirects(t *testing.T) {
	elsewhere := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the other host was called")
	}))
	for name, c := range map[string]struct {
		status int
		to     string
		fine   bool
	}{
		"to another host":          {307, elsewhere, false},
		"to another path":          {308, "/other", true},
		"that turns it into a GET": {303, "/other", false},
		"in a loop":                {307, "/", false},
	} {
		t.Run(name, func(t *testing.T) {
			mux := http.NewServeMux()
			mux.Handle("POST /other", streams(fine))
			mux.Handle("/", http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
				rw.Header().Set("Location", c.to)
				rw.WriteHeader(c.status)
			}))
			_, err := record(t, newHTTP(t, mux), ask(t, "hi"))
			if c.fine {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantError(t, err, agent.CodeRefused, "redirects")
		})
	}
}

func TestHeadersAreBounded(t *testing.T) {
	a := newHTTP(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("X-Endless", strings.Repeat("x", 128<<10))
		streams(fine)(rw, r)
	}))
	_, err := record(t, a, ask(t, "hi"))
	wantError(t, err, agent.CodeUnreachable, "cannot be reached")
}

func TestSecretsStaySecret(t *testing.T) {
	const key = "sk-very-secret"
	echo := func(rw http.ResponseWriter, r *http.Request) {
		rw.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(rw, "bad key "+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")+" of "+r.Header.Get("X-Team"))
	}
	header := http.Header{"Authorization": {"Bearer " + key}, "X-Team": {"team-secret"}}
	a := agent.NewHTTP(agent.Endpoint{URL: serve(t, http.HandlerFunc(echo)) + "?token=" + key, Header: header, Timeouts: patient()})
	defer a.Close()
	_, err := record(t, a, ask(t, "hi"))
	var failed *agent.Error
	if !errors.As(err, &failed) || failed.Detail != "bad key [redacted] of [redacted]" {
		t.Errorf("got %v", err)
	}
	s := httptest.NewServer(nil)
	s.Close()
	b := agent.NewHTTP(agent.Endpoint{URL: s.URL + "?token=" + key, Header: header, Timeouts: patient()})
	if _, err := record(t, b, ask(t, "hi")); err == nil || strings.Contains(err.Error(), key) {
		t.Errorf("got %v", err)
	}
}
