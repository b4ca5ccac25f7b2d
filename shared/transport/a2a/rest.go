package a2a

import (
	"bytes"
	"io"
	"net/http"
	"strings"

	lib "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/errordetails"

	"github.com/rethread/rethread/shared/base/jsonx"
)

// rest answers HTTP+JSON. The addresses of version 0.3 begin with v1.
func (s *server) rest(w http.ResponseWriter, r *http.Request, h a2asrv.RequestHandler) {
	path := "/" + pathParameter(r, "*")
	rest := a2asrv.NewRESTHandler(h, s.options()...)
	if old := strings.HasPrefix(path, a2av0.RESTPathPrefix+"/"); old || version(r) == legacy {
		rest = a2av0.NewRESTHandler(h, s.options()...)
		r = r.WithContext(withVersion(r.Context(), legacy))
		if !old {
			path = a2av0.RESTPathPrefix + path
		}
	}
	if r.Method == http.MethodPost && !isJSON(r) {
		refuseREST(w, http.StatusUnsupportedMediaType, errForeign)
		return
	}
	body, ok := readBody(w, r)
	if !ok {
		return
	}
	if err := flawOfREST(path, body); err != nil {
		refuseREST(w, http.StatusBadRequest, err)
		return
	}
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.URL.Path, r.URL.RawPath = path, ""
	r.URL.RawQuery = renamedQuery(r.URL.Query()).Encode()
	early := newEarly(plainWriter{w})
	defer early.close()
	rest.ServeHTTP(early, r)
}

// refuseREST answers a body that is not handed on as HTTP+JSON does, with the
// status that the protocol has for it.
func refuseREST(w http.ResponseWriter, status int, why error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	text, err := jsonx.Marshal(map[string]any{"error": map[string]any{
		"code": status, "status": "INVALID_ARGUMENT", "message": why.Error(),
		"details": []any{map[string]any{
			"@type": errordetails.ErrorInfoType, "reason": lib.ErrorReason(why), "domain": lib.ProtocolDomain,
		}},
	}})
	if err == nil { // these are strings and a number
		_, _ = w.Write(text) // a caller that is gone needs no answer
	}
}
