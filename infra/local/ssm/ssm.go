// Package ssm emulates Systems Manager's parameters as far as functions use them:
// the protocol of GetParameters (AWS JSON 1.1).
package ssm

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"os"
)

const (
	operation       = "AmazonSSM.GetParameters"
	contentType     = "application/x-amz-json-1.1"
	maxNames        = 10
	maxRequestBytes = 64 << 10
	// MaxBytes limits a parameter of the advanced tier.
	MaxBytes = 8 << 10
)

// Parameters are values by name, and the handler that serves them.
type Parameters map[string]string

// Store serves parameters, and those of a file: a JSON object of texts by name. The file
// is read with each request, so that a secret can be replaced; without it there are none.
type Store struct {
	Parameters

	File string
}

// ServeHTTP implements http.Handler.
func (s Store) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	all := maps.Clone(s.Parameters)
	if all == nil {
		all = Parameters{}
	}
	text, err := os.ReadFile(s.File)
	if err == nil {
		more := Parameters{}
		err = json.Unmarshal(text, &more)
		maps.Copy(all, more)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		refuse(rw, "InternalServerError", s.File+" does not hold a JSON object of texts: "+err.Error())
		return
	}
	all.ServeHTTP(rw, r)
}

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
		refuse(rw, "UnknownOperationException", "only GetParameters is supported by the local host")
		return
	case json.NewDecoder(http.MaxBytesReader(rw, r.Body, maxRequestBytes)).Decode(&in) != nil:
		refuse(rw, "SerializationException", "the request is not valid JSON")
		return
	case len(in.Names) == 0 || len(in.Names) > maxNames:
		refuse(rw, "ValidationException", "Names must contain 1 to 10 names")
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
	_ = json.NewEncoder(rw).Encode(out) // the caller may have disconnected
}

func refuse(rw http.ResponseWriter, kind, message string) {
	rw.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(rw).Encode(map[string]string{"__type": kind, "message": message}) // as above
}
