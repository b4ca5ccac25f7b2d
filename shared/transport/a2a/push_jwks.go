package a2a

import (
	"net/http"

	"github.com/rethread/rethread/shared/base/fault"

	"github.com/rethread/rethread/shared/base/jsonx"
)

// publicKeys answers the keys that verify push notifications (RFC 7517).
func (s *server) publicKeys(w http.ResponseWriter, r *http.Request) {
	if s.PublicKeys == nil {
		refuse(w, fault.RouteNotFound, "nothing is here")
		return
	}
	set, err := s.PublicKeys(r.Context())
	var body []byte
	if err == nil {
		body, err = jsonx.Marshal(set)
	}
	if err != nil {
		s.Log.ErrorContext(r.Context(), "read the public keys", "error", err)
		refuse(w, fault.Internal, "Internal error.")
		return
	}
	w.Header().Set("Content-Type", "application/jwk-set+json")
	w.Header().Set("Cache-Control", cardAge)
	_, _ = w.Write(body) // the caller may have left
}
