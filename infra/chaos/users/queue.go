package users

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/rethread/rethread/clients/go/watch/view"
	"github.com/rethread/rethread/infra/chaos/ledger"
)

// TextOf is the text of a queued input.
func TextOf(q view.Queued) string {
	var text strings.Builder
	for _, event := range q.Input {
		var in struct {
			Content struct {
				Parts []struct{ Text string }
			}
		}
		parse(event, &in)
		for _, part := range in.Content.Parts {
			text.WriteString(part.Text)
		}
	}
	return text.String()
}

// addStarted remembers the run of an accepted input: the one for which it waits, or
// else the active one.
func (t *Session) addStarted(token string, a Answer) {
	page, _, err := view.ParseThread(a.Body)
	if err != nil {
		return
	}
	for _, q := range page.Queued {
		if strings.Contains(TextOf(q), token) {
			t.addRun(q.RunID)
			t.setQueuedAs(token, q.RunID)
			return
		}
	}
	if page.RunID != "" {
		t.addRun(page.RunID)
	}
}

func (t *Session) setQueuedAs(token, run string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.queued == nil {
		t.queued = map[string]string{}
	}
	t.queued[token] = run
}

// QueuedAs is the run for which an input was queued; "" if it is not known.
func (t *Session) QueuedAs(token string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.queued[token]
}

// cancelQueued cancels one of the runs that wait.
func (d *device) cancelQueued(ctx context.Context, t *Session) {
	a := d.do(ctx, d.random, d.person, Call{Method: http.MethodGet, Path: t.path() + "/thread?limit=1", Repeat: true})
	page, _, err := view.ParseThread(a.Body)
	if a.Outcome != ledger.Acked || err != nil || len(page.Queued) == 0 {
		return
	}
	q := page.Queued[d.random.IntN(len(page.Queued))]
	d.perform(ctx, ledger.Op{Kind: "cancel", Session: t.ID, Detail: fmt.Sprint(q.RunID, " ", TextOf(q))},
		Call{Method: http.MethodPost, Path: t.path() + "/runs/" + q.RunID + "/cancel", Repeat: true}, nil)
}
