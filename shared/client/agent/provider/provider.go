// Package provider recognises why a model's provider refuses a request.
package provider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
)

// Codes of runs whose model's provider refuses the request. They are those of
// OpenAI's API, and used for all providers.
const (
	CodeContextLength = "context_length_exceeded" // the history is too long for the model
	CodeQuota         = "insufficient_quota"      // the provider's account has nothing left
	CodeRateLimit     = "rate_limit_exceeded"     // too many requests, after all attempts
	CodeModel         = "model_not_found"
	CodeKey           = "invalid_api_key"
)

// refusal is a reason for which providers refuse requests, and how it is
// recognised: by one of their codes or types, by the status, or by the words.
type refusal struct {
	code, message string
	codes         []string
	statuses      []int
	words         string // a regular expression; "" for none
}

// refusals are in the order in which they are tried: words of the first ones are
// more specific than statuses of the later ones.
func refusals() []refusal {
	return []refusal{
		{
			CodeContextLength, "the session's history is too long for the model",
			[]string{"context_length_exceeded", "context_window_exceeded", "exceed_context_size_error"},
			nil,
			`context (length|window|size)|prompt is too long|too many (input )?tokens|token count .*exceeds`,
		},
		{
			CodeKey, "the model's provider refuses the configured key",
			[]string{"invalid_api_key", "authentication_error"},
			[]int{http.StatusUnauthorized},
			`api.?key.{0,20}(not valid|invalid|incorrect|missing)|(incorrect|invalid) api.?key`,
		},
		{
			CodeQuota, "the account with the model's provider has no quota left",
			[]string{"insufficient_quota", "insufficient_balance", "billing_error"},
			[]int{http.StatusPaymentRequired},
			`exceeded your current quota|insufficient (balance|credits|quota)|credit balance is too low`,
		},
		{
			CodeModel, "the model's provider does not know the configured model",
			[]string{"model_not_found", "invalid_model"},
			nil,
			`model.{0,80}(not found|not exist|is not a valid|unknown)|(invalid|unknown) model|no such model|no endpoints found`,
		},
		{
			CodeRateLimit, "the model's provider limits the rate of requests",
			[]string{"rate_limit_exceeded", "rate_limit_error"},
			[]int{http.StatusTooManyRequests},
			"",
		},
	}
}

// providerError is an error of a provider: an object, or only its message. Codes
// are strings or numbers.
type providerError struct {
	Message string          `json:"message"`
	Code    any             `json:"code"`
	Type    string          `json:"type"`
	Status  any             `json:"status"` // Gemini's name of the code
	Error   json.RawMessage `json:"error"`
}

// parseProviderError parses an error of any known form; anything else is a message.
func parseProviderError(raw json.RawMessage) providerError {
	var e providerError
	var list []json.RawMessage
	switch {
	case json.Unmarshal(raw, &list) == nil && len(list) > 0: // Gemini
		return parseProviderError(list[0])
	case json.Unmarshal(raw, &e) != nil:
		if e = (providerError{}); json.Unmarshal(raw, &e.Message) != nil {
			e.Message = string(raw)
		}
	case !jsonx.IsNull(e.Error):
		return parseProviderError(e.Error)
	}
	return e
}

// code returns the provider's own code; "" if it has none.
func (e providerError) code() string {
	if e.Code == nil {
		return ""
	}
	return fmt.Sprint(e.Code)
}

// reason returns the reason of a refusal, which came with a status or, as 0, in a
// stream; ok is false if it is none of the known ones.
func (e providerError) reason(status int) (r refusal, ok bool) {
	codes := []string{strings.ToLower(e.code()), strings.ToLower(e.Type)}
	words := strings.ToLower(e.Message)
	for _, r := range refusals() {
		byCode := slices.ContainsFunc(codes, func(c string) bool { return slices.Contains(r.codes, c) })
		byStatus := slices.Contains(r.statuses, status)
		if byCode || byStatus || r.words != "" && regexp.MustCompile(r.words).MatchString(words) {
			return r, true
		}
	}
	return refusal{}, false
}

// Explain returns the error for a status and a body; nil if the reason is
// unknown.
func Explain(status int, body string) *endpoint.Error {
	if status >= http.StatusInternalServerError {
		return nil
	}
	e := parseProviderError(json.RawMessage(body))
	r, ok := e.reason(status)
	switch {
	case ok:
		return endpoint.NewError(r.code, "%s", r.message)
	case status == http.StatusNotFound:
		return endpoint.NewError(CodeModel, "the model's provider has no such model or address")
	default:
		return nil
	}
}

// Error returns the error that a stream contains. Users get its reason, if that is known,
// and not the provider's words.
func Error(raw json.RawMessage, redact func(string) string) error {
	e := parseProviderError(raw)
	message := redact(e.Message)
	if r, ok := e.reason(0); ok {
		err := endpoint.NewError(r.code, "%s", r.message)
		err.Detail = endpoint.Excerpt(message)
		return err
	}
	return endpoint.NewError(endpoint.CodeRefused, "the model's provider did not complete the answer").Quote(message)
}
