package outbound_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rethread/rethread/shared/client/outbound"
)

func TestClient(t *testing.T) {
	t.Run("calls a public address", func(t *testing.T) {
		t.Setenv("HTTPS_PROXY", "http://192.0.2.1:3128") // the client ignores it
		server := mustServe(t, nil)
		client := outbound.New(outbound.Options{
			AllowLoopback: true, RootCAs: server.roots(), Resolver: resolver("127.0.0.1"),
		}).Client()
		if _, body, err := post(t, client, server.as("example.com")); err != nil || body != "hello" {
			t.Errorf("got %q, %v", body, err)
		}
	})
	for _, test := range []struct{ name, host, resolved string }{
		{"an address of this machine", "127.0.0.1", ""},
		{"a name that resolves to this machine", "example.com", "127.0.0.1"},
		{"a name that resolves to this machine, version 6", "example.com", "::1"},
		{"a name that resolves to a private network", "example.com", "10.0.0.1"},
		{"a name that resolves to an instance's metadata", "example.com", "169.254.169.254"},
		{"a name that resolves to a mapped address", "example.com", "::ffff:127.0.0.1"},
		{"a name that resolves to NAT64", "example.com", "64:ff9b::7f00:1"},
	} {
		t.Run(test.name+" is refused", func(t *testing.T) {
			server := mustServe(t, nil)
			client := outbound.New(outbound.Options{RootCAs: server.roots(), Resolver: resolver(test.resolved)}).Client()
			_, _, err := post(t, client, server.as(test.host))
			if !errors.Is(err, outbound.ErrForbiddenAddress) || server.connections.Load() != 0 {
				t.Errorf("got %v and %d connections, want %v and none", err, server.connections.Load(), outbound.ErrForbiddenAddress)
			}
		})
	}
	t.Run("checks the address of a request", func(t *testing.T) {
		client := outbound.New(outbound.Options{}).Client()
		for _, url := range []string{"http://example.com/", "https://user@example.com/"} {
			if _, _, err := post(t, client, url); !errors.Is(err, outbound.ErrInvalidURL) {
				t.Errorf("%s: got %v", url, err)
			}
		}
	})
	redirect := func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, "https://169.254.169.254/", http.StatusTemporaryRedirect)
	}
	t.Run("returns a redirect", func(t *testing.T) {
		server := mustServe(t, redirect)
		if status, _, err := post(t, server.client(outbound.Options{}), server.URL); err != nil || status != http.StatusTemporaryRedirect {
			t.Errorf("got %d, %v", status, err)
		}
	})
	t.Run("checks the target of a redirect that is followed", func(t *testing.T) {
		server := mustServe(t, redirect)
		client := server.client(outbound.Options{})
		client.CheckRedirect = nil
		if _, _, err := post(t, client, server.URL); !errors.Is(err, outbound.ErrForbiddenAddress) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("refuses old versions of TLS", func(t *testing.T) {
		server := mustServe(t, nil, func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 })
		if _, _, err := post(t, server.client(outbound.Options{}), server.URL); err == nil {
			t.Error("got an answer")
		}
	})
	t.Run("refuses a certificate of an unknown authority", func(t *testing.T) {
		server := mustServe(t, nil)
		_, _, err := post(t, outbound.New(outbound.Options{AllowLoopback: true}).Client(), server.URL)
		var unknown x509.UnknownAuthorityError
		if !errors.As(err, &unknown) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("allows http if loopback is allowed", func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusNoContent) }))
		defer server.Close()
		client := outbound.New(outbound.Options{AllowLoopback: true}).Client()
		if status, _, err := post(t, client, server.URL); err != nil || status != http.StatusNoContent {
			t.Errorf("got %d, %v", status, err)
		}
	})
}

func TestLimits(t *testing.T) {
	write := func(text string) http.HandlerFunc {
		return func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, text) }
	}
	t.Run("reads a body of the maximum size", func(t *testing.T) {
		server := mustServe(t, write("12345"))
		if _, body, err := post(t, server.client(outbound.Options{MaxResponseBytes: 5}), server.URL); err != nil || body != "12345" {
			t.Errorf("got %q, %v", body, err)
		}
	})
	t.Run("refuses a longer body", func(t *testing.T) {
		server := mustServe(t, write("123456"))
		_, body, err := post(t, server.client(outbound.Options{MaxResponseBytes: 5}), server.URL)
		if body != "12345" || !errors.Is(err, outbound.ErrResponseTooLarge) {
			t.Errorf("got %q, %v", body, err)
		}
	})
	t.Run("does not ask for compression", func(t *testing.T) {
		server := mustServe(t, func(rw http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(rw, r.Header.Get("Accept-Encoding"))
		})
		if _, body, err := post(t, server.client(outbound.Options{}), server.URL); err != nil || body != "" {
			t.Errorf("asked for %q, %v", body, err)
		}
	})
	t.Run("refuses headers that are too large", func(t *testing.T) {
		server := mustServe(t, func(rw http.ResponseWriter, _ *http.Request) { rw.Header().Set("X-Long", strings.Repeat("x", 1<<20)) })
		if _, _, err := post(t, server.client(outbound.Options{}), server.URL); err == nil {
			t.Error("got an answer")
		}
	})
	t.Run("limits the time of the call, including the body", func(t *testing.T) {
		release := make(chan struct{})
		server := mustServe(t, func(rw http.ResponseWriter, _ *http.Request) {
			rw.(http.Flusher).Flush()
			<-release
		})
		defer close(release)
		_, _, err := post(t, server.client(outbound.Options{Timeout: 200 * time.Millisecond}), server.URL)
		var slow interface{ Timeout() bool }
		if !errors.As(err, &slow) || !slow.Timeout() {
			t.Errorf("got %v", err)
		}
	})
}

// post also returns the part of the answer that was read before an error.
func post(t *testing.T, client *http.Client, url string) (status int, body string, err error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = response.Body.Close() }()
	read, err := io.ReadAll(response.Body)
	return response.StatusCode, string(read), err
}

// server is a local receiver that counts its connections.
type server struct {
	*httptest.Server
	connections *atomic.Int64
}

func mustServe(t *testing.T, handler http.HandlerFunc, change ...func(*tls.Config)) server {
	t.Helper()
	if handler == nil {
		handler = func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, "hello") }
	}
	s := server{httptest.NewUnstartedServer(handler), new(atomic.Int64)}
	s.TLS = &tls.Config{
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			s.connections.Add(1)
			return nil, nil
		},
	}
	for _, c := range change {
		c(s.TLS)
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func (s server) roots() *x509.CertPool {
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return roots
}

// as returns the server's address with another host.
func (s server) as(host string) string {
	return "https://" + host + s.URL[strings.LastIndex(s.URL, ":"):]
}

func (s server) client(opts outbound.Options) *http.Client {
	opts.AllowLoopback, opts.RootCAs = true, s.roots()
	return outbound.New(opts).Client()
}
