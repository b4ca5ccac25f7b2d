package main

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
)

// question is what a model is asked, in a form that both APIs of the provider share.
type question struct {
	System []string `json:"system"` // in their order, those of the conversation too
	Turns  []turn   `json:"turns"`
	Tools  []string `json:"tools"`
	// Choice is the tool that the model must call, or "none", "auto" or "required".
	Choice string `json:"choice"`
	// More are the other members of the request.
	More map[string]any `json:"more"`
}

// turn is a message, a call, or the result of one.
type turn struct {
	Role  string   `json:"role"` // user, assistant, call or result
	Text  string   `json:"text"`
	Files []string `json:"files,omitempty"` // the beginnings of their addresses, or their names
}

// reply is a model's answer.
type reply struct {
	thought, refusal string
	pieces           []string // of the text
	calls            []string // names of functions
	endless          bool     // the pieces are repeated until the caller has left
	pause            time.Duration
	cut              bool // the answer is incomplete
	refusedWith      int  // a status; 0 for none
	code             string
}

// callArguments are the arguments of every call.
const callArguments = `{"location":"San Francisco, CA"}`

// think answers a question by the first word of its last turn.
func think(q question) reply {
	last := turn{Role: "user"}
	if len(q.Turns) > 0 {
		last = q.Turns[len(q.Turns)-1]
	}
	word, rest, _ := strings.Cut(last.Text, " ")
	if last.Role == "result" {
		return words("The tool said: " + last.Text)
	}
	if calls := q.calls(last.Text); len(calls) > 0 {
		return reply{calls: calls, pieces: textBefore(last.Text)}
	}
	switch word {
	case "report": // what the model was asked
		raw, _ := json.Marshal(q) // it was JSON
		return reply{pieces: []string{string(raw)}}
	case "recall": // the rest of the first turn of the user's that begins with a word
		return words(q.recall(rest))
	case "think":
		return reply{thought: "Hm.", pieces: []string{"Yes."}}
	case "structured":
		return reply{pieces: []string{`{"city":"Paris",`, `"degrees":21}`}}
	case "endless":
		return reply{pieces: []string{"word "}, endless: true, pause: 5 * time.Millisecond}
	case "long":
		return reply{pieces: strings.SplitAfter(strings.Repeat("more ", 60), " "), pause: 30 * time.Millisecond}
	case "short":
		return reply{pieces: []string{"Only the "}, cut: true}
	case "decline":
		return reply{refusal: "I cannot help with that."}
	case "overflow":
		return reply{refusedWith: http.StatusBadRequest, code: "context_length_exceeded"}
	}
	return words("You said: " + last.Text)
}

func words(text string) reply { return reply{pieces: strings.SplitAfter(text, " ")} }

// calls returns the functions that the model calls: the one that it must, all that it
// has for "use all", or the first one for a question about the weather.
func (q question) calls(text string) []string {
	switch {
	case slices.Contains(q.Tools, q.Choice):
		return []string{q.Choice}
	case q.Choice == "none":
		return nil
	case strings.HasPrefix(text, "use all"):
		return q.Tools
	}
	for _, name := range q.Tools {
		if q.Choice == "required" || name != "configured" && strings.Contains(strings.ToLower(text), "weather") {
			return []string{name}
		}
	}
	return nil
}

// textBefore returns the text with which a model begins before it calls: none unless
// it is asked to.
func textBefore(text string) []string {
	if strings.Contains(text, "and say so") {
		return []string{"I look."}
	}
	return nil
}

func (q question) recall(word string) string {
	for _, t := range q.Turns {
		if said, found := strings.CutPrefix(t.Text, word+" "); found && t.Role == "user" {
			return said
		}
	}
	return "I do not know."
}

// speak says the text of a reply in its pieces.
func (r reply) speak(e emitter, say func(piece string)) {
	for {
		for _, piece := range r.pieces {
			say(piece)
			select {
			case <-e.r.Context().Done():
				return
			case <-time.After(r.pause):
			}
		}
		if !r.endless {
			return
		}
	}
}

// usage of every answer, as each API reports it.
const (
	chatUsage = `{"prompt_tokens":11,"prompt_tokens_details":{"cached_tokens":3},"completion_tokens":7,` +
		`"completion_tokens_details":{"reasoning_tokens":2},"total_tokens":18}`
	responsesUsage = `{"input_tokens":11,"input_tokens_details":{"cached_tokens":3},"output_tokens":7,` +
		`"output_tokens_details":{"reasoning_tokens":2},"total_tokens":18}`
)

// file is how a question names a file: the beginning of its address.
func file(address string) string { return address[:min(len(address), 40)] }
