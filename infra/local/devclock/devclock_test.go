package devclock_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rethread/rethread/infra/local/devclock"
)

const hour = 3600

func TestClock(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data")
	c := devclock.New(folder)
	wantAhead(t, c, "GET", "", 0)
	wantAhead(t, c, "POST", `{"advance_seconds": 3600}`, hour)
	wantAhead(t, c, "POST", `{"advance_seconds": 86400}`, 25*hour)
	t.Run("it is kept in its folder", func(t *testing.T) { wantAhead(t, devclock.New(folder), "GET", "", 25*hour) })
	t.Run("another folder has the machine's time", func(t *testing.T) { wantAhead(t, devclock.New(t.TempDir()), "GET", "", 0) })
	for name, body := range map[string]string{
		"no body": ``, "no JSON": `an hour`, "another type": `{"advance_seconds": "3600"}`, "a fraction": `{"advance_seconds": 0.5}`,
		"no member": `{}`, "nothing": `{"advance_seconds": 0}`, "backwards": `{"advance_seconds": -1}`,
		"ten years in all": `{"advance_seconds": 315270001}`, "more than an integer": `{"advance_seconds": 1e30}`,
		"a body that is too large": `{"advance_seconds":` + strings.Repeat(" ", 1<<10) + `1}`,
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			if status, text := send(t, c, "POST", body); status != 400 || !strings.Contains(text, "advance_seconds") {
				t.Errorf("%d %s", status, text)
			}
			wantAhead(t, c, "GET", "", 25*hour)
		})
	}
	t.Run("refuses pages of other origins", func(t *testing.T) {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "http://127.0.0.1:3000/dev/clock", strings.NewReader(`{"advance_seconds": 1}`))
		r.Header.Set("Origin", "https://site.example")
		recorder := httptest.NewRecorder()
		if c.Handler("/dev").ServeHTTP(recorder, r); recorder.Code != 403 {
			t.Errorf("answered %d %s", recorder.Code, recorder.Body)
		}
		wantAhead(t, c, "GET", "", 25*hour)
	})
	t.Run("accepts ten years in all", func(t *testing.T) {
		wantAhead(t, c, "POST", `{"advance_seconds": 315270000}`, 10*365*24*hour)
	})
	t.Run("names a damaged file", func(t *testing.T) {
		if err := os.WriteFile(c.File, []byte("soon"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Ahead(); err == nil || !strings.Contains(err.Error(), c.File) {
			t.Errorf("Ahead says %v", err)
		}
		for _, method := range []string{"GET", "POST"} {
			if status, text := send(t, c, method, `{"advance_seconds": 1}`); status != 500 || !strings.Contains(text, c.File) {
				t.Errorf("%d %s", status, text)
			}
		}
	})
}

// wantAhead checks that an answer has the time that is so many seconds ahead, which the
// clock has as well.
func wantAhead(t *testing.T, c *devclock.Clock, method, body string, seconds int64) {
	t.Helper()
	before := time.Now().UnixMilli() + seconds*1000
	status, text := send(t, c, method, body)
	var got struct {
		Time  int64 `json:"time"`
		Ahead int64 `json:"ahead_seconds"`
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil || status != 200 {
		t.Fatalf("%d %s", status, text)
	}
	now, after := c.Now().UnixMilli(), time.Now().UnixMilli()+seconds*1000
	if got.Ahead != seconds || got.Time < before || now < got.Time || after < now {
		t.Error(fmt.Sprint(before, got, now, after), "are not in order")
	}
}

func send(t *testing.T, c *devclock.Clock, method, body string) (status int, text string) {
	t.Helper()
	recorder := httptest.NewRecorder()
	c.Handler("/dev").ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), method, "/dev/clock", strings.NewReader(body)))
	return recorder.Code, recorder.Body.String()
}
