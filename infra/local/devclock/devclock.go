// Package devclock is the clock of the local system, which a developer advances: what
// takes days is seen at once. It is not part of the cloud's template.
package devclock

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/rethread/rethread/shared/base/clock"
)

const (
	fileName        = "clock"
	maxRequestBytes = 1 << 10
	// maxAhead keeps times within what tokens and tables can express.
	maxAhead = 10 * 365 * 24 * time.Hour
)

// Clock is ahead of the machine's clock by a duration that only grows. It is stored in
// a file, which functions read at each look at their clock (clock.Variable).
type Clock struct {
	File string
	Now  func() time.Time

	mu sync.Mutex // of writers
}

// New returns the clock of a folder; it is as far ahead as when the folder was last used.
func New(folder string) *Clock {
	file := filepath.Join(folder, fileName)
	return &Clock{File: file, Now: clock.New(file)}
}

// Ahead returns how far the clock is ahead of the machine's. Its error names a damaged file.
func (c *Clock) Ahead() (time.Duration, error) { return clock.Ahead(c.File) }

// Handler serves the clock under prefix: POST prefix/clock advances it, GET reads it. Pages
// of other origins cannot advance it, since any site could try that in a developer's browser,
// and no clock goes back.
func (c *Clock) Handler(prefix string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+prefix+"/clock", c.serveTime)
	mux.HandleFunc("POST "+prefix+"/clock", func(rw http.ResponseWriter, r *http.Request) {
		var req struct {
			Seconds int64 `json:"advance_seconds"`
		}
		why, err := `send {"advance_seconds": 3600}: a whole number of seconds`, error(nil)
		if json.NewDecoder(http.MaxBytesReader(rw, r.Body, maxRequestBytes)).Decode(&req) == nil {
			why, err = c.advance(req.Seconds)
		}
		switch {
		case err != nil:
			answer(rw, http.StatusInternalServerError, map[string]any{"message": err.Error()})
		case why != "":
			answer(rw, http.StatusBadRequest, map[string]any{"message": why})
		default:
			c.serveTime(rw, r)
		}
	})
	return http.NewCrossOriginProtection().Handler(mux)
}

// advance returns the reason why the clock cannot be advanced so far, "" if it was.
func (c *Clock) advance(seconds int64) (why string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ahead, err := c.Ahead()
	if err != nil {
		return "", err
	}
	if left := int64((maxAhead - ahead) / time.Second); seconds < 1 || seconds > left {
		return fmt.Sprintf("advance_seconds must be a whole number from 1 to %d: the clock only goes forward, ten years in all", left), nil
	}
	ahead += time.Duration(seconds) * time.Second
	next := c.File + ".new"
	if err := os.MkdirAll(filepath.Dir(c.File), 0o750); err != nil {
		return "", fmt.Errorf("advance the clock: %w", err)
	}
	if err := os.WriteFile(next, []byte(ahead.String()), 0o600); err != nil {
		return "", fmt.Errorf("advance the clock: %w", err)
	}
	if err := os.Rename(next, c.File); err != nil {
		return "", fmt.Errorf("advance the clock: %w", err)
	}
	return "", nil
}

// serveTime answers the time in milliseconds, and how far it is ahead.
func (c *Clock) serveTime(rw http.ResponseWriter, _ *http.Request) {
	ahead, err := c.Ahead()
	if err != nil {
		answer(rw, http.StatusInternalServerError, map[string]any{"message": err.Error()})
		return
	}
	answer(rw, http.StatusOK, map[string]any{"time": time.Now().Add(ahead).UnixMilli(), "ahead_seconds": int64(ahead / time.Second)})
}

func answer(rw http.ResponseWriter, status int, body any) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(body) // the caller may have disconnected
}
