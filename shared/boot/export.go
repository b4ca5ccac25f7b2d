package boot

import (
	"net/http"
	"os"

	"github.com/rethread/rethread/shared/transport/gateway"
	"github.com/rethread/rethread/shared/transport/rest/archives"
)

// StartExport runs the function that streams whole sessions until Lambda stops it.
// ALLOWED_ORIGIN is the web origin whose pages may read, since the REST API adds no
// CORS headers to responses of functions.
func StartExport() {
	Start(func(d Deps) (any, error) {
		return Streaming(allowing(os.Getenv("ALLOWED_ORIGIN"), archives.Export(d.API())), d.Log, d.Now), nil
	})
}

// allowing lets the pages of a web origin read responses.
func allowing(origin string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range gateway.CORS(origin) {
			w.Header().Set(name, value)
		}
		h.ServeHTTP(w, r)
	})
}
