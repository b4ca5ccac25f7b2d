package lambda

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Lambda tries a failed asynchronous invocation twice more, a minute and then
// two later; here nobody wants to wait that long.
const (
	asyncRetries = 2
	asyncPause   = time.Second
)

// serveInvoke is Lambda's Invoke API.
func (h *Host) serveInvoke(rw http.ResponseWriter, r *http.Request) {
	name := functionName(r.PathValue("name"))
	payload, err := io.ReadAll(io.LimitReader(r.Body, MaxRequestBytes+1))
	if err != nil {
		return // the caller is gone
	}
	kind := r.Header.Get("X-Amz-Invocation-Type")
	switch {
	case h.pools[name] == nil:
		answerAPIError(rw, http.StatusNotFound, "ResourceNotFoundException", "Function not found: "+h.arn(name))
	case len(payload) > MaxRequestBytes, kind == "Event" && len(payload) > maxAsyncBytes:
		answerAPIError(rw, http.StatusRequestEntityTooLarge, "RequestTooLargeException", "Request must be smaller")
	case len(payload) > 0 && !json.Valid(payload):
		answerAPIError(rw, http.StatusBadRequest, "InvalidRequestContentException",
			"Could not parse request body into json")
	case kind == "DryRun":
		rw.WriteHeader(http.StatusNoContent)
	case kind == "Event":
		h.InvokeAsync(name, payload)
		rw.Header().Set("X-Amzn-Requestid", uuid.NewString())
		rw.WriteHeader(http.StatusAccepted)
	case kind == "", kind == "RequestResponse":
		h.serveInvokeSync(rw, r, name, payload)
	default:
		answerAPIError(rw, http.StatusBadRequest, "InvalidParameterValueException", "unknown invocation type "+kind)
	}
}

func (h *Host) serveInvokeSync(rw http.ResponseWriter, r *http.Request, name string, payload []byte) {
	if len(payload) == 0 {
		payload = []byte("{}")
	}
	result, err := h.invoke(r.Context(), name, payload, r.Header.Get("X-Amz-Client-Context"))
	switch {
	case errors.Is(err, ErrThrottled):
		answerAPIError(rw, http.StatusTooManyRequests, "TooManyRequestsException", "Rate Exceeded.")
		return
	case err != nil:
		answerAPIError(rw, http.StatusInternalServerError, "ServiceException", err.Error())
		return
	}
	result.Collect()
	header := rw.Header()
	header.Set("Content-Type", "application/json")
	header.Set("X-Amzn-Requestid", result.RequestID)
	header.Set("X-Amz-Executed-Version", "$LATEST")
	if result.FunctionError != "" {
		header.Set("X-Amz-Function-Error", result.FunctionError)
	}
	_, _ = rw.Write(result.Payload) // a caller that is gone needs no answer
}

// InvokeAsync runs a function in the background, and again when it fails.
func (h *Host) InvokeAsync(name string, payload []byte) {
	h.async.Go(func() {
		for attempt := range asyncRetries + 1 {
			if h.succeeds(name, payload) || h.stopping.Err() != nil {
				return
			}
			select {
			case <-h.stopping.Done():
				return
			case <-time.After(time.Duration(attempt+1) * asyncPause):
			}
		}
		h.log.ErrorContext(h.stopping, "asynchronous invocation given up", "function", name)
	})
}

func (h *Host) succeeds(name string, payload []byte) bool {
	result, err := h.invoke(h.stopping, name, payload, "")
	if errors.Is(err, context.Canceled) || errors.Is(err, ErrClosed) {
		return false
	}
	if err != nil {
		h.log.WarnContext(h.stopping, "asynchronous invocation failed", "function", name, "error", err)
		return false
	}
	result.Collect()
	if result.FunctionError != "" && h.stopping.Err() == nil {
		h.log.WarnContext(h.stopping, "asynchronous invocation failed", "function", name, "answer", string(result.Payload))
	}
	return result.FunctionError == ""
}

// functionName reads a name, a partial ARN or a whole one, with or without a
// version.
func functionName(given string) string {
	if decoded, err := url.PathUnescape(given); err == nil {
		given = decoded
	}
	if _, after, ok := strings.Cut(given, "function:"); ok {
		given = after
	}
	name, _, _ := strings.Cut(given, ":")
	return name
}

func answerAPIError(rw http.ResponseWriter, status int, kind, message string) {
	rw.Header().Set("Content-Type", "application/json")
	rw.Header().Set("X-Amzn-Errortype", kind)
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(map[string]string{"Type": "User", "Message": message}) // as above
}
