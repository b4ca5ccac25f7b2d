// Package console serves the console: a page for the browser, its files, and
// the configuration with the addresses of its deployment, which GET /api/v1 names to
// all clients. It reads no user data; the page gets that from the API, like any client.
package console

import (
	"io/fs"
	"log/slog"
	"net/http"
)

// Base is the path prefix of the console.
const Base = "/console"

// Config configures the console.
type Config struct {
	// Page is the built page: index.html at its root, and files with a hash in
	// their name in assets/. Without an index.html, the console shows how to
	// build it.
	Page fs.FS
	// WatchURL is the address of the WebSocket API.
	WatchURL string
	// StreamURL is the address of the streaming API, from which the page exports
	// sessions; "" means the page's own.
	StreamURL string
	SignIn    SignIn
	// Prices are what a million tokens of a model or an agent cost, in dollars, as a
	// JSON object: {"name": {"input": 1.25, "output": 10, "cached": 0.125}}. Without
	// them the page shows no costs.
	Prices string
	// TraceURL is the address of a trace, with {trace_id} in place of its id; "" means
	// that the page links to none.
	TraceURL string
	Client   *http.Client // reads the endpoints of SignIn's issuer
	Log      *slog.Logger
}

// New returns the handler of /, which redirects to the console, and of the
// console. It fails if the page cannot be listed, or an address or a price is invalid.
func New(c Config) (http.Handler, error) {
	policy, err := newPolicy(c)
	if err != nil {
		return nil, err
	}
	configuration, err := c.configuration()
	if err != nil {
		return nil, err
	}
	page, err := newPage(c.Page, c.Log)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", http.RedirectHandler(Base, http.StatusFound))
	mux.Handle("GET "+Base, page)
	mux.Handle("GET "+Base+"/", page)
	mux.HandleFunc("GET "+Base+"/config.json", configuration.serve)
	all := http.NewServeMux()
	all.HandleFunc("GET "+entryPath, c.serveEntry)
	all.Handle("/", policy.around(mux))
	return all, nil
}
