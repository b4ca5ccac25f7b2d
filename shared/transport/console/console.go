// Package console serves the console: a page in the browser, the files that it
// is made of, and the configuration that tells it where it runs. It knows no
// user and no conversation; the page gets those from the API, like any client.
package console

import (
	"io/fs"
	"log/slog"
	"net/http"
)

// Base is the path under which all of the console is.
const Base = "/console"

// Config is what the console is served from.
type Config struct {
	// Page is the built page, index.html at its root and what never changes under
	// its name in assets/. Without an index.html, the console says how to build it.
	Page fs.FS
	// WatchURL is the address of the WebSocket API.
	WatchURL string
	SignIn   SignIn
	Client   *http.Client // asks the issuer of SignIn where its endpoints are
	Log      *slog.Logger
}

// New returns the handler of /, which leads to the console, and of the console
// itself. It fails where the page cannot be read or an address is none.
func New(c Config) (http.Handler, error) {
	policy, err := newPolicy(c)
	if err != nil {
		return nil, err
	}
	configuration, err := c.configuration()
	if err != nil {
		return nil, err
	}
	page, err := newPage(c.Page)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", http.RedirectHandler(Base, http.StatusFound))
	mux.Handle("GET "+Base, page)
	mux.Handle("GET "+Base+"/", page)
	mux.HandleFunc("GET "+Base+"/config.json", configuration.serve)
	return policy.around(mux), nil
}
