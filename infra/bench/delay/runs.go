package delay

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/base/retry"
)

// start starts a run of each session and returns their ids.
func (m *measurement) start(ctx context.Context) ([]string, error) {
	body := map[string]any{"input": []any{map[string]any{
		"content": map[string]any{"role": "user", "parts": []any{map[string]any{"text": "Go."}}},
	}}}
	if m.External {
		body["mode"] = "external"
	}
	runs := make([]string, len(m.sessions))
	starting, ctx := limited(ctx)
	for i, id := range m.sessions {
		starting.Go(func() error {
			answer, err := m.post(ctx, runsPath(id), body)
			if err != nil {
				return err
			}
			var thread struct {
				Data struct {
					Session struct {
						Run string `json:"active_run_id"`
					} `json:"session"`
				} `json:"data"`
			}
			if err := json.Unmarshal(answer, &thread); err != nil {
				return fmt.Errorf("read the thread of session %s: %w", id, err)
			}
			runs[i] = thread.Data.Session.Run
			return nil
		})
	}
	return runs, starting.Wait()
}

// push acts as the agent of an external run: it pushes tokens as it emits them.
func (m *measurement) push(ctx context.Context, session, run string) error {
	path := runsPath(session) + "/" + url.PathEscape(run)
	item := uuid.NewString()
	rest := firstPause(m.Every)
	for n := range m.Tokens {
		if err := retry.Sleep(ctx, rest); err != nil {
			return err
		}
		rest = m.Every
		_, err := m.post(ctx, path+"/deltas", map[string]any{
			"item_id": item, "author": agentName,
			"deltas": []any{map[string]any{"part": 0, "text": newToken(n, time.Now())}},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func runsPath(session string) string { return "/sessions/" + url.PathEscape(session) + "/runs" }

// firstPause spreads the runs, because independent conversations are not
// synchronized.
func firstPause(every time.Duration) time.Duration {
	return time.Duration(rand.Int64N(int64(every) + 1)) //nolint:gosec // nothing secret
}
