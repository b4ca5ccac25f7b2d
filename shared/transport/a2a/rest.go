package a2a

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	lib "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/errordetails"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/transport/frontend"
)

// rest answers HTTP+JSON. Paths of version 0.3 begin with v1.
func (s *server) rest(w http.ResponseWriter, r *http.Request, h a2asrv.RequestHandler) {
	path := "/" + frontend.PathParameter(r, "*")
	rest := a2asrv.NewRESTHandler(h, s.options()...)
	prefixed := strings.HasPrefix(path, a2av0.RESTPathPrefix+"/")
	old := prefixed || version(r) == legacy
	if old {
		rest = a2av0.NewRESTHandler(h, s.options()...)
		r = r.WithContext(withVersion(r.Context(), legacy))
		if !prefixed {
			path = a2av0.RESTPathPrefix + path
		}
	}
	answer := &restWriter{ResponseWriter: jsonErrorWriter{w}, old: old}
	defer answer.close()
	if r.Method == http.MethodPost && !isJSON(r) {
		refuseREST(answer, http.StatusUnsupportedMediaType, errUnsupportedType)
		return
	}
	body, ok := readBody(answer, r)
	if !ok {
		return
	}
	message, err := checkRESTBody(path, body)
	if err != nil {
		refuseREST(answer, http.StatusBadRequest, err)
		return
	}
	if body = bodyWithJSONNames(body); old && r.Method == http.MethodPost && strings.HasSuffix(path, "/pushNotificationConfigs") {
		body = wrappedPushConfig(body)
	}
	r = withSentMessage(r.Clone(r.Context()), message)
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.URL.Path, r.URL.RawPath = path, ""
	r.URL.RawQuery = queryWithJSONNames(r.URL.Query()).Encode()
	out := newFirstEventWriter(answer)
	defer out.close()
	rest.ServeHTTP(out, r)
}

// wrappedPushConfig returns the body by which clients of 0.3 create a push
// configuration in the form that the library reads: some send the configuration
// itself, as the proto file has it.
func wrappedPushConfig(body []byte) []byte {
	var bare struct {
		Config json.RawMessage `json:"config"`
		Push   struct {
			ID string `json:"id"`
		} `json:"pushNotificationConfig"`
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil || json.Unmarshal(body, &bare) != nil || bare.Config != nil ||
		members["pushNotificationConfig"] == nil {
		return body
	}
	out, err := jsonx.Marshal(map[string]any{"configId": bare.Push.ID, "config": json.RawMessage(body)})
	if err != nil {
		return body
	}
	return out
}

// refuseREST answers an invalid body in the format of HTTP+JSON, with the
// protocol's status.
func refuseREST(w http.ResponseWriter, status int, why error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	text, err := jsonx.Marshal(map[string]any{"error": map[string]any{
		"code": status, "status": "INVALID_ARGUMENT", "message": why.Error(),
		"details": []any{map[string]any{
			"@type": errordetails.ErrorInfoType, "reason": lib.ErrorReason(why), "domain": lib.ProtocolDomain,
		}},
	}})
	if err == nil { // cannot fail: strings and a number
		_, _ = w.Write(text) // the caller may have left
	}
}
