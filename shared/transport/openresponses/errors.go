package openresponses

import (
	"net/http"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/base/problem"
	"github.com/rethread/rethread/shared/transport/openresponses/responsesconvert"
)

// Codes of errors.
const (
	codeModel = "model_not_found"
	codeBusy  = "conversation_busy" // a run is in progress
	// codeKey means that an Idempotency-Key was used for another request.
	codeKey = "idempotency_key_reused"
	// codeDiverged means that the conversation has gone on since the previous response.
	codeDiverged   = "conversation_has_gone_on"
	codeNoPrevious = "previous_response_not_found"
	// codeEnded is the code of a previous response that failed or was cancelled.
	codeEnded = "previous_response_not_completed"
	// codeExpired ends a stream whose response goes on.
	codeExpired = "stream_expired"
	codeLimit   = "rate_limit_exceeded"
)

// handle serves requests of callers only. An error before the stream is answered in the
// shape of OpenAI's API.
func (s *server) handle(serve func(w http.ResponseWriter, r *http.Request) error) http.HandlerFunc {
	return s.Serve("Send a bearer token: it is the API key of an SDK.", writeError, serve)
}

// Refuse answers a request that did not reach a handler.
func (s *server) Refuse(w http.ResponseWriter, err error) { s.RefuseAs(w, err, writeError) }

// writeError answers a request with a fault.
func writeError(w http.ResponseWriter, f *fault.Error) {
	status := statusOf(f)
	header := problem.New(f, "").Header
	for _, name := range []string{"Retry-After", "WWW-Authenticate"} {
		if value := header.Get(name); value != "" {
			w.Header().Set(name, value)
		}
	}
	if status == http.StatusConflict && f.Extra["code"] != codeBusy {
		w.Header().Set("X-Should-Retry", "false") // OpenAI's SDKs repeat a request that gets a conflict
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(errorBody(f)) // the caller may have left
}

func errorBody(f *fault.Error) []byte {
	body, err := jsonx.Marshal(map[string]any{"error": errorObject(f)})
	if err != nil {
		return []byte(`{"error":{"type":"server_error","message":"Internal error.","code":null,"param":null}}`)
	}
	return body
}

// errorObject returns a fault as the error of an answer or a stream.
func errorObject(f *fault.Error) map[string]any {
	out := map[string]any{"message": f.Detail, "type": typeOf(f), "code": f.Extra["code"], "param": nil}
	switch v := violation(f); {
	case v == nil:
	case v.Pointer == "":
		out["message"] = "The body " + v.Detail
	default:
		out["param"] = responsesconvert.Param(v.Pointer)
		out["message"] = responsesconvert.Param(v.Pointer) + " " + v.Detail
	}
	if f.Kind == fault.Busy && out["code"] == nil {
		out["code"] = codeLimit
	}
	for _, name := range []string{"run_id", "conversation_id"} {
		if value := f.Extra[name]; value != nil {
			out[name] = value
		}
	}
	return out
}

// violation returns the field that breaks a rule; nil without one.
func violation(f *fault.Error) *fault.Violation {
	if len(f.Violations) == 0 {
		return nil
	}
	return &f.Violations[0]
}

// statusOf returns the status of a fault: a request that breaks a rule is answered with
// 400 here.
func statusOf(f *fault.Error) int {
	switch status := problem.Status(f.Kind); {
	case f.Kind == fault.Invalid:
		return http.StatusBadRequest
	case status == 0:
		return http.StatusInternalServerError
	default:
		return status
	}
}

func typeOf(f *fault.Error) string {
	switch status := statusOf(f); {
	case status >= http.StatusInternalServerError:
		return "server_error"
	case status == http.StatusTooManyRequests:
		return "too_many_requests"
	case status == http.StatusNotFound && f.Extra["code"] != codeModel:
		return "not_found"
	}
	return "invalid_request_error"
}
