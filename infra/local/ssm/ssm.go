// Package ssm imitates Systems Manager's parameters on this machine, as far as
// functions use them: it speaks the protocol of GetParameters (AWS JSON 1.1).
package ssm

import (
	"encoding/json"
	"net/http"
)

const (
	operation       = "AmazonSSM.GetParameters"
	contentType     = "application/x-amz-json-1.1"
	maxNames        = 10
	maxRequestBytes = 64 << 10
	// MaxBytes is how much a parameter of the advanced tier holds.
	MaxBytes = 8 << 10
)

// Parameters are values by name, and the handler that gives them away.
type Parameters map[string]string

type parameter struct {
	Name    string
	Type    string
	Value   string
	Version int
}

// ServeHTTP implements http.Handler.
func (p Parameters) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("Content-Type", contentType)
	var in struct{ Names []string }
	switch {
	case r.Header.Get("X-Amz-Target") != operation:
		refuse(rw, "UnknownOperationException", "only GetParameters is here")
		return
	case json.NewDecoder(http.MaxBytesReader(rw, r.Body, maxRequestBytes)).Decode(&in) != nil:
		refuse(rw, "SerializationException", "the request is no JSON")
		return
	case len(in.Names) == 0 || len(in.Names) > maxNames:
		refuse(rw, "ValidationException", "Names must hold 1 to 10 names")
		return
	}
	out := struct {
		Parameters        []parameter
		InvalidParameters []string
	}{[]parameter{}, []string{}}
	for _, name := range in.Names {
		if value, ok := p[name]; ok {
			out.Parameters = append(out.Parameters, parameter{name, "SecureString", value, 1})
		} else {
			out.InvalidParameters = append(out.InvalidParameters, name)
		}
	}
	_ = json.NewEncoder(rw).Encode(out) // a caller that is gone needs no answer
}

func refuse(rw http.ResponseWriter, kind, message string) {
	rw.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(rw).Encode(map[string]string{"__type": kind, "message": message}) // as above
}
