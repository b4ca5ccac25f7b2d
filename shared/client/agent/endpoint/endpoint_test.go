package endpoint_test

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

	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/agent/agenttest"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/client/agent/httpagent"
	"github.com/rethread/rethread/shared/domain/run"
)

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
			a := agenttest.NewHTTP(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
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
			_, err := agenttest.Record(t, a, agenttest.Ask(t, "hi"))
			agenttest.WantError(t, err, endpoint.CodeRefused, "answered with status")
			if tries.Load() != c.tries {
				t.Errorf("%d tries, want %d", tries.Load(), c.tries)
			}
			var failed *endpoint.Error
			if errors.As(err, &failed); c.status != 304 && (!strings.HasPrefix(failed.Detail, "<h1> no\uFFFD</h1> long") || len(failed.Detail) > 300) {
				t.Errorf("detail %q", failed.Detail)
			}
		})
	}
	t.Run("succeeds on a later attempt", func(t *testing.T) {
		var tries atomic.Int64
		a := agenttest.NewHTTP(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			switch tries.Add(1) {
			case 1:
				panic(http.ErrAbortHandler) // the connection breaks before any answer
			case 2:
				rw.WriteHeader(http.StatusServiceUnavailable)
			default:
				agenttest.Streams(agenttest.ShortAnswer)(rw, r)
			}
		}))
		if r := agenttest.MustRecord(t, a, agenttest.Ask(t, "hi")); r.Text() != "ab" {
			t.Errorf("got %q", r.Log)
		}
	})
	t.Run("a port that refuses connections", func(t *testing.T) {
		s := httptest.NewServer(nil)
		s.Close()
		a := httpagent.New(agentconfig.Endpoint{URL: s.URL, Timeouts: agenttest.Patient()})
		_, err := agenttest.Record(t, a, agenttest.Ask(t, "hi"))
		agenttest.WantError(t, err, endpoint.CodeUnreachable, "cannot be reached")
	})
	t.Run("does not retry once something has arrived", func(t *testing.T) {
		var tries atomic.Int64
		a := agenttest.NewHTTP(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			tries.Add(1)
			agenttest.Streams(agenttest.SSE(`delta {"part":0,"text":"a"}`))(rw, r)
			if err := http.NewResponseController(rw).Flush(); err != nil {
				t.Error(err)
			}
			panic(http.ErrAbortHandler)
		}))
		r, err := agenttest.Record(t, a, agenttest.Ask(t, "hi"))
		agenttest.WantError(t, err, endpoint.CodeEndedEarly, "ended early")
		if tries.Load() != 1 || len(r.Log) != 2 {
			t.Errorf("%d tries, %q", tries.Load(), r.Log)
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
		timeouts agentconfig.Timeouts
		answer   http.HandlerFunc
		says     string
	}{
		"no response header": {
			agentconfig.Timeouts{FirstByte: limit},
			func(http.ResponseWriter, *http.Request) {},
			"did not answer in time",
		},
		"silence within the answer": {
			agentconfig.Timeouts{Idle: limit},
			func(rw http.ResponseWriter, r *http.Request) {
				agenttest.Streams(agenttest.SSE(`item {}`))(rw, r)
				flush(rw)
			},
			"silent for 100ms",
		},
		"silence within an error response": {
			agentconfig.Timeouts{Idle: limit},
			func(rw http.ResponseWriter, _ *http.Request) {
				rw.WriteHeader(http.StatusInternalServerError)
				flush(rw)
			},
			"silent for 100ms",
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := agenttest.NewHurriedHTTP(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				c.answer(rw, r)
				<-r.Context().Done()
			}), c.timeouts)
			_, err := agenttest.Record(t, a, agenttest.Ask(t, "hi"))
			agenttest.WantError(t, err, endpoint.CodeTimeout, c.says)
		})
	}
	t.Run("no TLS handshake", func(t *testing.T) {
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() //nolint:errcheck // nothing was written
		a := httpagent.New(agentconfig.Endpoint{URL: "https://" + l.Addr().String(), Timeouts: agentconfig.Timeouts{Connect: limit}})
		_, err = agenttest.Record(t, a, agenttest.Ask(t, "hi"))
		agenttest.WantError(t, err, endpoint.CodeTimeout, "did not answer in time")
	})
}

func TestCancellation(t *testing.T) {
	gone := make(chan struct{}, 1)
	hang := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		text := agenttest.SSE(`item {}`)
		if strings.HasSuffix(r.URL.Path, "/chat/completions") {
			text = agenttest.Chunks(`{"choices":[{"delta":{"content":"a"}}]}`)
		}
		agenttest.Streams(text)(rw, r)
		if err := http.NewResponseController(rw).Flush(); err != nil {
			t.Error(err)
		}
		<-r.Context().Done()
		gone <- struct{}{}
	})
	for name, a := range map[string]run.Agent{
		"http":             agenttest.NewHTTP(t, hang),
		"chat completions": agenttest.NewChat(t, hang, agentconfig.Chat{}),
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := agenttest.CancelledBy(t)
			err := a.Run(ctx, agenttest.Ask(t, "hi"), func(run.Output) error {
				cancel(agenttest.ErrStopped)
				return nil
			})
			var failed *endpoint.Error
			if !errors.Is(err, agenttest.ErrStopped) || errors.As(err, &failed) {
				t.Errorf("got %v, which is not the bare cause", err)
			}
			<-gone // the agent notices
		})
	}
	t.Run("before the answer", func(t *testing.T) {
		ctx, cancel := agenttest.CancelledBy(t)
		a := agenttest.NewHTTP(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			cancel(agenttest.ErrStopped)
			<-r.Context().Done()
		}))
		if err := a.Run(ctx, agenttest.Ask(t, "hi"), nil); !errors.Is(err, agenttest.ErrStopped) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("between two attempts", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		a := agenttest.NewHTTP(t, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Retry-After", "9")
			rw.WriteHeader(http.StatusServiceUnavailable)
		}))
		if err := a.Run(ctx, agenttest.Ask(t, "hi"), nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

func TestRedirects(t *testing.T) {
	elsewhere := agenttest.Serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
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
			mux.Handle("POST /other", agenttest.Streams(agenttest.ShortAnswer))
			mux.Handle("/", http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
				rw.Header().Set("Location", c.to)
				rw.WriteHeader(c.status)
			}))
			_, err := agenttest.Record(t, agenttest.NewHTTP(t, mux), agenttest.Ask(t, "hi"))
			if c.fine {
				if err != nil {
					t.Error(err)
				}
				return
			}
			agenttest.WantError(t, err, endpoint.CodeRefused, "redirects")
		})
	}
}

func TestHeadersAreBounded(t *testing.T) {
	a := agenttest.NewHTTP(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("X-Endless", strings.Repeat("x", 128<<10))
		agenttest.Streams(agenttest.ShortAnswer)(rw, r)
	}))
	_, err := agenttest.Record(t, a, agenttest.Ask(t, "hi"))
	agenttest.WantError(t, err, endpoint.CodeUnreachable, "cannot be reached")
}

func TestSecretsStaySecret(t *testing.T) {
	const key = "sk-very-secret"
	echo := func(rw http.ResponseWriter, r *http.Request) {
		rw.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(rw, "bad key "+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")+" of "+r.Header.Get("X-Team"))
	}
	header := http.Header{"Authorization": {"Bearer " + key}, "X-Team": {"team-secret"}}
	a := httpagent.New(agentconfig.Endpoint{URL: agenttest.Serve(t, http.HandlerFunc(echo)) + "?token=" + key, Header: header, Timeouts: agenttest.Patient()})
	defer a.Close()
	_, err := agenttest.Record(t, a, agenttest.Ask(t, "hi"))
	var failed *endpoint.Error
	if !errors.As(err, &failed) || failed.Detail != "bad key [redacted] of [redacted]" {
		t.Errorf("got %v", err)
	}
	s := httptest.NewServer(nil)
	s.Close()
	b := httpagent.New(agentconfig.Endpoint{URL: s.URL + "?token=" + key, Header: header, Timeouts: agenttest.Patient()})
	if _, err := agenttest.Record(t, b, agenttest.Ask(t, "hi")); err == nil || strings.Contains(err.Error(), key) {
		t.Errorf("got %v", err)
	}
}
