package lambda

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/local/async"
)

// serveInvoke implements Lambda's Invoke API.
func (h *Host) serveInvoke(rw http.ResponseWriter, r *http.Request) {
	name := functionName(r.PathValue("name"))
	payload, err := io.ReadAll(io.LimitReader(r.Body, MaxRequestBytes+1))
	if err != nil {
		return // the caller disconnected
	}
	if len(payload) == 0 {
		payload = []byte("{}")
	}
	kind := r.Header.Get("X-Amz-Invocation-Type")
	switch {
	case h.pools[name] == nil:
		answerAPIError(rw, http.StatusNotFound, "ResourceNotFoundException", "Function not found: "+h.arn(name))
	case len(payload) > MaxRequestBytes:
		answerTooLarge(rw, MaxRequestBytes)
	case kind == "Event" && len(payload) > async.MaxPayloadBytes:
		answerTooLarge(rw, async.MaxPayloadBytes)
	case !json.Valid(payload):
		answerAPIError(rw, http.StatusBadRequest, "InvalidRequestContentException",
			"Could not parse request body into json")
	case kind == "DryRun":
		rw.WriteHeader(http.StatusNoContent)
	case kind == "Event":
		rw.Header().Set("X-Amzn-Requestid", h.submit(name, payload))
		rw.WriteHeader(http.StatusAccepted)
	case kind == "", kind == "RequestResponse":
		h.serveInvokeSync(rw, r, name, payload)
	default:
		answerAPIError(rw, http.StatusBadRequest, "InvalidParameterValueException", "unknown invocation type "+kind)
	}
}

func (h *Host) serveInvokeSync(rw http.ResponseWriter, r *http.Request, name string, payload []byte) {
	result, err := h.invoke(r.Context(), name, newInvocation(uuid.NewString(), payload, r.Header.Get("X-Amz-Client-Context")))
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
	_, _ = rw.Write(result.Payload) // the caller may have disconnected
}

// functionName returns the name in a name, a partial ARN or a full ARN, with or
// without a version.
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

func answerTooLarge(rw http.ResponseWriter, limit int) {
	answerAPIError(rw, http.StatusRequestEntityTooLarge, "RequestTooLargeException",
		fmt.Sprintf("Request must be smaller than %d bytes for this invocation type", limit))
}

func answerAPIError(rw http.ResponseWriter, status int, kind, message string) {
	rw.Header().Set("Content-Type", "application/json")
	rw.Header().Set("X-Amzn-Errortype", kind)
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(map[string]string{"Type": "User", "Message": message}) // as above
}
