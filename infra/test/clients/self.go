package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"

	"github.com/rethread/rethread/infra/test/e2e/host"
)

// self is the system as an A2A server for its own agents: a proxy that adds a token,
// since the system's address and a user's token are known only once it runs.
type self struct {
	*httptest.Server

	target atomic.Pointer[selfTarget]
}

type selfTarget struct {
	url   *url.URL
	token string
}

func serveSelf() *self {
	s := &self{}
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		target := s.target.Load()
		r.SetURL(target.url)
		r.Out.Host = r.In.Host // which the card's addresses have
		r.Out.Header.Set("Authorization", "Bearer "+target.token)
	}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.target.Load() == nil {
			http.Error(w, "the system does not run yet", http.StatusServiceUnavailable)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	return s
}

// aim has the proxy reach a running system.
func (s *self) aim(ctx context.Context, system string) error {
	token, err := host.Token(ctx, system, "self")
	if err != nil {
		return err
	}
	target, err := url.Parse(system)
	if err != nil {
		return fmt.Errorf("read the system's address: %w", err)
	}
	s.target.Store(&selfTarget{target, token})
	return nil
}

// agents adds the agents that call the system: its scripted agent, and one that calls
// itself.
func (s *self) agents(config map[string]json.RawMessage) {
	for name, called := range map[string]string{"a2a-self": "scripted", "a2a-loop": "a2a-loop"} {
		config[name] = json.RawMessage(fmt.Sprintf(`{"type":"a2a","url":%q}`, s.URL+"/a2a/"+called))
	}
}
