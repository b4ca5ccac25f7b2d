package lambda

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
)

const runtimePrefix = "/{worker}/2018-06-01/runtime"

func (h *Host) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+runtimePrefix+"/invocation/next", h.forWorker(serveNext))
	mux.HandleFunc("POST "+runtimePrefix+"/invocation/{id}/response", h.forWorker(serveResponse))
	mux.HandleFunc("POST "+runtimePrefix+"/invocation/{id}/error", h.forWorker(serveError))
	mux.HandleFunc("POST "+runtimePrefix+"/init/error", h.forWorker(serveInitError))
	mux.Handle("POST /2015-03-31/functions/{name}/invocations", h.guarded(http.HandlerFunc(h.serveInvoke)))
	mux.Handle("GET /2015-03-31/functions/{name}/configuration", h.guarded(http.HandlerFunc(h.serveConfiguration)))
	mux.Handle("GET /2015-03-31/event-source-mappings", h.guarded(http.HandlerFunc(h.serveMappings)))
	return mux
}

func (h *Host) guarded(api http.Handler) http.Handler {
	if h.opts.Guard == nil {
		return api
	}
	return h.opts.Guard(api)
}

func (h *Host) forWorker(serve func(http.ResponseWriter, *http.Request, *worker)) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		found, ok := h.workers.Load(r.PathValue("worker"))
		if !ok {
			answerFailure(rw, http.StatusForbidden, "InvalidRequest", "unknown worker")
			return
		}
		serve(rw, r, found.(*worker)) // the map holds only workers
	}
}

func serveNext(rw http.ResponseWriter, r *http.Request, w *worker) {
	w.finish()
	inv := w.pool.next(r.Context(), w)
	if inv == nil {
		return // the caller disconnected
	}
	w.take(inv)
	w.describe(inv, rw.Header())
	_, _ = rw.Write(inv.payload) // if the worker has exited, its own goroutine handles that
}

func serveResponse(rw http.ResponseWriter, r *http.Request, w *worker) {
	inv := w.serving(r.PathValue("id"))
	if inv == nil {
		answerFailure(rw, http.StatusBadRequest, "InvalidRequestID", "Invalid request ID")
		return
	}
	if contentType := r.Header.Get("Content-Type"); isStream(contentType) {
		serveStream(rw, r, inv, contentType)
		return
	}
	payload, err := io.ReadAll(io.LimitReader(r.Body, MaxResponseBytes+1))
	switch {
	case err != nil:
		answerFailure(rw, http.StatusBadRequest, "InvalidRequest", "the response is incomplete")
	case len(payload) > MaxResponseBytes:
		inv.deliver(responseTooLarge(MaxResponseBytes).result())
		answerFailure(rw, http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", "Exceeded maximum allowed payload size.")
	default:
		w.answer(inv, &Result{Payload: payload})
		accept(rw)
	}
}

func serveStream(rw http.ResponseWriter, r *http.Request, inv *invocation, contentType string) {
	reader, writer := io.Pipe()
	if !inv.deliver(&Result{Stream: &Stream{ContentType: contentType, Body: reader}}) {
		_ = reader.Close()
	}
	var failed *StreamError
	err := forward(r, writer)
	inv.release()
	if errors.As(err, &failed) && failed.Type == "Function.ResponseSizeTooLarge" {
		answerFailure(rw, http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", failed.Message)
		return
	}
	accept(rw)
}

func serveError(rw http.ResponseWriter, r *http.Request, w *worker) {
	inv := w.serving(r.PathValue("id"))
	if inv == nil {
		answerFailure(rw, http.StatusBadRequest, "InvalidRequestID", "Invalid request ID")
		return
	}
	w.answer(inv, readFailure(r))
	accept(rw)
}

func serveInitError(rw http.ResponseWriter, r *http.Request, w *worker) {
	result := readFailure(r)
	w.mu.Lock()
	w.initError = result
	w.mu.Unlock()
	accept(rw)
}

// readFailure returns the runtime's description unchanged, for the caller.
func readFailure(r *http.Request) *Result {
	payload, err := io.ReadAll(io.LimitReader(r.Body, MaxResponseBytes))
	if err != nil || len(payload) == 0 {
		return failure{Type: r.Header.Get(trailerErrorType), Message: "the function failed without a description"}.result()
	}
	return &Result{Payload: payload, FunctionError: unhandled}
}

func accept(rw http.ResponseWriter) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(http.StatusAccepted)
	_, _ = io.WriteString(rw, `{"status":"OK"}`) // the worker may have exited
}

func answerFailure(rw http.ResponseWriter, status int, kind, message string) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(failure{Type: kind, Message: message}) // as above
}
