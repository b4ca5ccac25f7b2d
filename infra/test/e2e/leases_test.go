package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"path"
	"strings"
	"testing"

	"github.com/rethread/rethread/clients/go/watch/view"
	"github.com/rethread/rethread/infra/test/e2e"
)

// testLeases lets runs fall silent without a request about them. The first of an
// append, a new watcher and the sweeper ends such a run, and watchers are
// notified.
func testLeases(t *testing.T, sys *e2e.System) {
	t.Helper()
	brief := sys.Another(t, "RUN_LEASE=3s")
	for _, c := range []struct {
		name   string
		comeBy func(s *silent, ctx context.Context) error
	}{
		{"an append ends a run whose lease is out", (*silent).append},
		{"a new watcher ends one", (*silent).watch},
		{"the sweeper ends one", (*silent).sweep},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &silent{system: brief, user: brief.User(t, "alice")}
			s.session = mustCreate(t, s.user, nil)
			follower := s.user.Follow(path.Base(s.session), "watcher", e2e.Sockets)
			mustSee(t, []*e2e.Follower{follower}, "the thread", hasStatus(view.Idle))
			mustRun(t, s.user, s.session, "hello", e2e.M{"mode": "external", "agent": "analyst"})
			await(t, "the end of the run", func(ctx context.Context) bool {
				if err := c.comeBy(s, ctx); err != nil {
					t.Fatal(err)
				}
				return follower.Shows(hasStatus(view.Failed))
			})
		})
	}
}

// sweptByTests changes the template so that the sweeper runs only when a test invokes
// it: with a short lease, it may take a slow worker for a lost one.
func sweptByTests(template string) string {
	return strings.ReplaceAll(template, "rate(1 minute)", "rate(365 days)")
}

func hasStatus(status view.Status) func(view.Session) bool {
	return func(s view.Session) bool { return s.Status == status }
}

// silent is a session with a run that sends no heartbeats.
type silent struct {
	system  *e2e.System
	user    *e2e.User
	session string
}

// append sends partial events, which change nothing.
func (s *silent) append(ctx context.Context) error {
	partial := event("other", "half a w")
	partial["partial"] = true
	answer, err := s.user.Try(ctx, http.MethodPost, s.session+"/events", e2e.M{"events": []e2e.M{partial}})
	if err == nil && answer.Status != http.StatusOK {
		err = fmt.Errorf("answered %d: %s", answer.Status, answer.Body)
	}
	return err
}

// watch opens a websocket, and disconnects after an answer.
func (s *silent) watch(ctx context.Context) error {
	stream, err := e2e.Sockets(ctx, s.user, path.Base(s.session), nil)
	if err != nil {
		return err
	}
	defer stream.Close()
	_, err = stream.Next(ctx)
	return err
}

// sweep invokes the sweeper, as the schedule does each minute.
func (s *silent) sweep(ctx context.Context) error {
	url := s.system.LambdaURL + "/2015-03-31/functions/SweeperFunction/invocations"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader([]byte("{}")))
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	return res.Body.Close()
}
