package a2a

import (
	"bytes"
	"encoding/json"
	"net/http"

	lib "github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/rethread/rethread/shared/base/jsonx"
)

// restWriter completes the library's HTTP+JSON answers: a success without a body
// gets an empty object, as ProtoJSON has it and clients parse it, and errors for
// clients of 0.3 get the members that these read.
type restWriter struct {
	http.ResponseWriter

	old     bool
	status  int
	written bool
	failure bytes.Buffer // the body of an error
}

// WriteHeader implements http.ResponseWriter.
func (w *restWriter) WriteHeader(status int) {
	if status == http.StatusNoContent {
		return // the default status, and a body, follow at the end
	}
	if w.status = status; status < http.StatusBadRequest {
		w.written = true
		w.ResponseWriter.WriteHeader(status)
	}
}

// Write implements http.ResponseWriter.
func (w *restWriter) Write(text []byte) (int, error) {
	if w.status >= http.StatusBadRequest {
		return w.failure.Write(text)
	}
	w.written = true
	if _, err := w.ResponseWriter.Write(jsonx.Line(text)); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Flush implements http.Flusher.
func (w *restWriter) Flush() {
	if f, ok := w.ResponseWriter.(http.Flusher); ok && w.written {
		f.Flush()
	}
}

// close writes what was held back.
func (w *restWriter) close() {
	switch {
	case w.status >= http.StatusBadRequest:
		w.ResponseWriter.WriteHeader(w.status)
		_, _ = w.ResponseWriter.Write(w.error(w.failure.Bytes())) // the caller may have left
	case !w.written:
		_, _ = w.ResponseWriter.Write([]byte("{}"))
	}
}

// error returns an error's body; for clients of 0.3 with its name and message at
// the top, as the reference server of 0.3 answers.
func (w *restWriter) error(body []byte) []byte {
	var members map[string]json.RawMessage
	var of struct {
		Message string `json:"message"`
		Details []struct {
			Reason string `json:"reason"`
		} `json:"details"`
	}
	if !w.old || json.Unmarshal(body, &members) != nil || json.Unmarshal(members["error"], &of) != nil {
		return body
	}
	out := map[string]any{"message": of.Message}
	for _, d := range of.Details {
		if name := legacyErrorName(d.Reason); name != "" {
			out["type"] = name
		}
	}
	for name, raw := range members {
		out[name] = raw
	}
	if text, err := jsonx.Marshal(out); err == nil {
		return text
	}
	return body
}

// legacyErrorName returns the name by which clients of 0.3 know an error over
// HTTP+JSON; "" for one that they do not know.
func legacyErrorName(reason string) string {
	for err, name := range map[error]string{
		lib.ErrTaskNotFound:                 "TaskNotFoundError",
		lib.ErrTaskNotCancelable:            "TaskNotCancelableError",
		lib.ErrPushNotificationNotSupported: "PushNotificationNotSupportedError",
		lib.ErrUnsupportedOperation:         "UnsupportedOperationError",
		lib.ErrUnsupportedContentType:       "ContentTypeNotSupportedError",
		lib.ErrInvalidAgentResponse:         "InvalidAgentResponseError",
		lib.ErrInvalidParams:                "InvalidParamsError",
		lib.ErrInvalidRequest:               "InvalidRequestError",
		lib.ErrParseError:                   "JSONParseError",
		lib.ErrMethodNotFound:               "MethodNotFoundError",
		lib.ErrInternalError:                "InternalError",
	} {
		if lib.ErrorReason(err) == reason {
			return name
		}
	}
	return ""
}
