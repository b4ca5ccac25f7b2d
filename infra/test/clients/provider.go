package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
)

// serveProvider serves a provider of models whose answers are determined by what they
// are asked, over chat completions and the Responses API.
func serveProvider() *httptest.Server {
	var calls atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("POST /chat/completions", answerWith(&calls, askedOverChat, speakChat))
	mux.HandleFunc("POST /responses", answerWith(&calls, askedOverResponses, speakResponses))
	return httptest.NewServer(mux)
}

// models returns the configuration of an agent for each API of the provider.
func models(provider string) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for name, kind := range map[string]string{"model-chat": "chat_completions", "model-responses": "responses"} {
		out[name] = json.RawMessage(fmt.Sprintf(
			`{"type":%q,"url":%q,"api_key_env":"AGENT_API_KEY","model":"scripted","system":"You are scripted.",`+
				`"tools":[{"type":"function","name":"configured","function":{"name":"configured"}}]}`, kind, provider))
	}
	return out
}

// answerWith answers requests of an API, which read and speak know. calls counts the
// model's calls, so that their ids are unique.
func answerWith(
	calls *atomic.Int64, read func([]byte) (question, error), speak func(emitter, reply),
) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+agentKey {
			refuse(w, http.StatusUnauthorized, "invalid_api_key", "a wrong key")
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the system has left
		}
		q, err := read(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer := think(q)
		if answer.refusedWith != 0 {
			refuse(w, answer.refusedWith, answer.code, "I was asked to refuse.")
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		speak(emitter{w, r, calls}, answer)
	}
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"error":{"message":%q,"code":%q}}`, message, code) // the system may have left
}

// emitter sends the events of one answer.
type emitter struct {
	w http.ResponseWriter
	r *http.Request

	calls *atomic.Int64
}

func (e emitter) nextCall() string { return fmt.Sprintf("call_%d", e.calls.Add(1)) }

// send sends an event; one that cannot be encoded is a bug of the script.
func (e emitter) send(data any) {
	raw, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	e.raw(string(raw))
}

func (e emitter) raw(data string) {
	_, _ = fmt.Fprintf(e.w, "data: %s\n\n", data) // the system may have left
	_ = http.NewResponseController(e.w).Flush()
}
