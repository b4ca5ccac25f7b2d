package console

import (
	"net/http"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/transport/gateway"
)

const (
	// entryPath is the path of the document that names all addresses of the deployment.
	entryPath = "/api/v1"
	// version of the deployed program; `make version` writes it.
	version = "0.2.0"
)

// entry is the document by which clients with one address find the others.
type entry struct {
	Version      string     `json:"version"`
	APIVersion   string     `json:"api_version"`
	URL          string     `json:"url"`
	StreamURL    string     `json:"stream_url"`
	WebSocketURL string     `json:"websocket_url"`
	Limits       limits     `json:"limits"`
	Protocols    []protocol `json:"protocols"`
}

// limits are those that callers meet first; docs/limits.md has all.
type limits struct {
	AnswerBytes      int `json:"answer_bytes"`
	ArtifactBytes    int `json:"artifact_bytes"`
	EventsPerRequest int `json:"events_per_request"`
	InputsPerRun     int `json:"inputs_per_run"`
	MetadataBytes    int `json:"metadata_bytes"`
	PageItems        int `json:"page_items"`
	StateBytes       int `json:"state_bytes"`
	WatchedSessions  int `json:"watched_sessions"`
}

// protocol is one that agents or sessions are served over, with the address for its
// clients; `{agent}` stands for an agent's name.
type protocol struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// maxAnswer is Lambda's limit of an answer in bytes.
const maxAnswer = 6 << 20

// serveEntry answers with the addresses as the caller reaches them. It needs no token.
func (c Config) serveEntry(w http.ResponseWriter, r *http.Request) {
	api := gateway.Origin(r.Header, r.Host)
	streams := c.StreamURL
	if streams == "" {
		streams = api
	}
	body, err := jsonx.Marshal(map[string]entry{"data": {
		Version: version, APIVersion: "v1", URL: api, StreamURL: streams, WebSocketURL: c.WatchURL,
		Limits: limits{
			AnswerBytes: maxAnswer, ArtifactBytes: artifact.MaxSize, EventsPerRequest: session.MaxBatch, InputsPerRun: run.MaxInput,
			MetadataBytes: session.MaxMetadata, PageItems: session.MaxPage, StateBytes: session.MaxState, WatchedSessions: watch.MaxSessions,
		},
		Protocols: []protocol{
			{"a2a", streams + "/a2a/{agent}"},
			{"ag_ui", streams + "/agui/{agent}"},
			{"ai_sdk", streams + "/ai-sdk/{agent}"},
			{"open_responses", streams + "/v1"},
			{"mcp", api + "/mcp"},
		},
	}})
	if err != nil {
		c.Log.ErrorContext(r.Context(), "the addresses cannot be encoded", "error", err)
		http.Error(w, `{"message":"Internal Server Error"}`, http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "public, max-age=300")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(body) // the caller may have left
}
