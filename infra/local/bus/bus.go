// Package bus emulates EventBridge's event buses. It speaks the protocol of
// PutEvents (AWS JSON 1.1), checks entries as the service does, logs each accepted
// event and keeps the latest ones. There are no rules: events are not forwarded.
package bus

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"
)

const (
	contentType = "application/x-amz-json-1.1"
	operation   = "AWSEvents.PutEvents"
	// kept is the number of events kept.
	kept = 10_000
	// maxRequestBytes leaves room for the largest entries with every byte escaped.
	maxRequestBytes = 8 << 20
)

// Error codes of requests that are refused as a whole.
const (
	codeUnknown    = "UnknownOperationException"
	codeMalformed  = "SerializationException"
	codeValidation = "ValidationException"
)

// Event is an event that a bus accepted.
type Event struct {
	ID         string          `json:"id"`
	Bus        string          `json:"bus"`
	Source     string          `json:"source"`
	DetailType string          `json:"detail_type"`
	Detail     json.RawMessage `json:"detail"`
	Time       time.Time       `json:"time"`
}

// Bus is an http.Handler for all event buses.
type Bus struct {
	log *slog.Logger
	now func() time.Time

	mu     sync.Mutex
	events []Event
}

// New returns empty buses.
func New(log *slog.Logger, now func() time.Time) *Bus { return &Bus{log: log, now: now} }

// Events returns the latest accepted events, oldest first.
func (b *Bus) Events() []Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.events)
}

// List serves the events as a JSON array.
func (b *Bus) List(rw http.ResponseWriter, _ *http.Request) {
	events := b.Events()
	if events == nil {
		events = []Event{}
	}
	rw.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(rw).Encode(events) // the caller may have disconnected
}

// refusal is the error of a request that is refused as a whole.
type refusal struct{ code, message string }

func (r *refusal) Error() string { return r.code + ": " + r.message }

func refuse(code, format string, args ...any) error {
	return &refusal{code, fmt.Sprintf(format, args...)}
}

// ServeHTTP implements http.Handler.
func (b *Bus) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("Content-Type", contentType)
	rw.Header().Set("X-Amzn-Requestid", uuid.NewString())
	out, err := b.serve(rw, r)
	var refused *refusal
	switch {
	case r.Context().Err() != nil:
		return // the caller disconnected
	case errors.As(err, &refused):
		rw.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(rw).Encode(map[string]string{"__type": refused.code, "message": refused.message}) // as above
	case err != nil:
		rw.WriteHeader(http.StatusInternalServerError)
	default:
		_ = json.NewEncoder(rw).Encode(out) // as above
	}
}

func (b *Bus) serve(rw http.ResponseWriter, r *http.Request) (answer, error) {
	if target := r.Header.Get("X-Amz-Target"); target != operation {
		return answer{}, refuse(codeUnknown, "operation %q is not supported by the local event bus", target)
	}
	body, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, maxRequestBytes))
	if err != nil {
		return answer{}, fmt.Errorf("read request: %w", err)
	}
	var in request
	if err := json.Unmarshal(body, &in); err != nil {
		return answer{}, refuse(codeMalformed, "%s", err)
	}
	if err := in.check(); err != nil {
		return answer{}, err
	}
	return b.put(r, in), nil
}

// put accepts the valid entries.
func (b *Bus) put(r *http.Request, in request) answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out answer
	for _, e := range in.Entries {
		result := e.check()
		if result.ErrorCode != "" {
			out.FailedEntryCount++
			out.Entries = append(out.Entries, result)
			continue
		}
		result.EventID = uuid.NewString()
		out.Entries = append(out.Entries, result)
		taken := e.event(result.EventID, b.now())
		b.events = append(b.events, taken)
		b.log.InfoContext(r.Context(), "event accepted", "bus", taken.Bus, "type", taken.DetailType, "detail", string(taken.Detail))
	}
	b.events = b.events[max(0, len(b.events)-kept):]
	return out
}

// readTime parses epoch seconds, the protocol's format of times.
func readTime(n json.Number) (time.Time, error) {
	seconds, err := strconv.ParseFloat(n.String(), 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("parse time: %w", err)
	}
	return time.UnixMilli(int64(seconds * 1000)).UTC(), nil
}
