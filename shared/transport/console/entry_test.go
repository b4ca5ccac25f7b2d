package console_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/rethread/rethread/shared/domain/session"
)

// TestAddresses reads the document by which clients find all addresses.
func TestAddresses(t *testing.T) {
	for _, test := range []struct{ name, streams, want string }{
		{"streams at the API's own address", "", "https://api.example"},
		{"streams elsewhere", "https://streams.example/live", "https://streams.example/live"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := config()
			c.StreamURL = test.streams
			answer := send(t, mustNew(t, c), http.MethodGet, "/api/v1")
			var got struct {
				Data struct {
					Version string
					URL     string
					Stream  string `json:"stream_url"`
					Socket  string `json:"websocket_url"`
					Limits  map[string]int
					Parts   []struct{ Name, URL string } `json:"protocols"`
				}
			}
			if err := json.Unmarshal(answer.Body.Bytes(), &got); err != nil || answer.Code != http.StatusOK {
				t.Fatalf("%d %s: %v", answer.Code, answer.Body, err)
			}
			d := got.Data
			if d.Version == "" || d.URL != "https://api.example" || d.Stream != test.want || d.Socket != c.WatchURL {
				t.Errorf("got %+v", d)
			}
			if d.Limits["page_items"] != session.MaxPage {
				t.Errorf("limits %v", d.Limits)
			}
			if len(d.Parts) != 5 {
				t.Fatalf("protocols %v", d.Parts)
			}
			for _, p := range d.Parts {
				base := test.want
				if p.Name == "mcp" {
					base = "https://api.example"
				}
				if !strings.HasPrefix(p.URL, base+"/") {
					t.Errorf("%s is at %s", p.Name, p.URL)
				}
			}
			if policy := answer.Header().Get("Content-Security-Policy"); policy != "" {
				t.Errorf("the document has the page's policy %s", policy)
			}
		})
	}
}
