// Package script is an agent whose answers are determined by its input, for tests
// with clients. It speaks the agent protocol of docs/agent-protocol.md.
package script

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"
)

// request is what the agent reads of a request.
type request struct {
	Events []event `json:"events"`
}

type event struct {
	Author  string `json:"author"`
	Content struct {
		Parts []part `json:"parts"`
	} `json:"content"`
	A2A struct {
		MessageID string `json:"message_id"`
	} `json:"a2a"`
}

type part struct {
	Text     string         `json:"text"`
	Response map[string]any `json:"function_response"`
}

// Serve starts the agent on a free port of this machine.
func Serve() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in request
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || len(in.Events) == 0 {
			http.Error(w, "no input", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		answer(&speaker{w: w, r: r}, in.Events[len(in.Events)-1])
	}))
}

// speaker writes an answer.
type speaker struct {
	w http.ResponseWriter
	r *http.Request
}

func (s *speaker) send(kind string, data any) {
	text, err := json.Marshal(data)
	if err != nil {
		panic(err) // the data is this package's
	}
	_, _ = fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", kind, text) // the caller may have left
	_ = http.NewResponseController(s.w).Flush()
}

// say sends a text as one item, piece by piece.
func (s *speaker) say(pieces ...string) {
	s.send("item", map[string]any{})
	for _, text := range pieces {
		s.send("delta", map[string]any{"part": 0, "text": text})
	}
}

// parts sends a whole event with these parts.
func (s *speaker) parts(more map[string]any, parts ...map[string]any) {
	e := map[string]any{"content": map[string]any{"role": "model", "parts": parts}}
	for name, v := range more {
		e[name] = v
	}
	s.send("event", e)
}

// wait returns false if the caller leaves within the time.
func (s *speaker) wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.r.Context().Done():
		return false
	}
}

// endless speaks until the caller leaves, a minute at most.
func (s *speaker) endless() {
	s.send("item", map[string]any{})
	for i := range 600 {
		s.send("delta", map[string]any{"part": 0, "text": fmt.Sprintf("word%d ", i)})
		if !s.wait(100 * time.Millisecond) {
			return
		}
	}
}

func text(e event) string {
	var out []string
	for _, p := range e.Content.Parts {
		if p.Text != "" {
			out = append(out, p.Text)
		}
	}
	return strings.Join(out, " ")
}

func response(e event) map[string]any {
	for _, p := range e.Content.Parts {
		if p.Response != nil {
			return p.Response
		}
	}
	return nil
}
