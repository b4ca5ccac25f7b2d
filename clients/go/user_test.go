package rethread_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	rethread "github.com/rethread/rethread/clients/go"
)

func TestWithUser(t *testing.T) {
	var named []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		named = append(named, r.Header.Get("Authorization")+" "+r.Header.Get("Rethread-User"))
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"data":{"id":"s"}}`))
	}))
	t.Cleanup(server.Close)
	client, err := rethread.New(rethread.Config{URL: server.URL, Token: rethread.StaticToken("service"), User: "auth0|ä, b"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*rethread.Client{client, client.WithUser("bob"), client.WithUser("")} {
		if _, err := c.Sessions.Get(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"Bearer service auth0%7C%C3%A4%2C%20b", "Bearer service bob", "Bearer service "}; !slices.Equal(named, want) {
		t.Errorf("sent %q, want %q", named, want)
	}
}
