package e2e_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/test/e2e"
)

// testDoctor runs `make doctor` against the running system, and then against
// faulty ones.
func testDoctor(t *testing.T, sys *e2e.System) {
	t.Helper()
	doctor := func(t *testing.T, env ...string) (report string, status int) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), sys.Program("doctor"))
		cmd.Dir = sys.Root
		cmd.Env = append(os.Environ(), "STACK=", "TOKEN=", "RETHREAD_URL="+sys.URL, "RETHREAD_WS_URL="+sys.WebSocketURL)
		cmd.Env = append(cmd.Env, env...)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	wants := func(t *testing.T, report string, lines ...string) {
		t.Helper()
		for _, line := range lines {
			if !regexp.MustCompile(`(?m)^` + line).MatchString(report) {
				t.Errorf("no line %s in\n%s", line, report)
			}
		}
	}
	t.Run("finds nothing wrong with a working system", func(t *testing.T) {
		report, status := doctor(t)
		wants(t, report, `ok +table Table +ACTIVE, index activity, stream on`, `ok +expiry of items +on, of expires`,
			`skipped +point-in-time recovery +not on this machine`, `ok +functions +\d+, all active`, `ok +event sources +\d+, all enabled`,
			`ok +queue Failures +empty`, `skipped +alarms`, `ok +issuer of tokens`, `ok +API +\S+ answers 401`, `ok +clock`,
			`ok +API of streams`, `ok +create a session`, `ok +subscribe to it`, `ok +append, and see it live`,
			`ok +rewind, and see it live`, `ok +fork`, `ok +delete what was tried`)
		if status != 0 || strings.Contains(report, "fail") {
			t.Errorf("status %d\n%s", status, report)
		}
	})
	t.Run("deletes its session", func(t *testing.T) {
		if n := len(sys.User(t, "doctor").Get(api + "/sessions").Want(200).List("data")); n != 0 {
			t.Errorf("%d sessions are left", n)
		}
	})
	t.Run("fails only the session with an invalid token", func(t *testing.T) {
		report, status := doctor(t, "TOKEN=no.real.token")
		wants(t, report, `ok +API `, `fail +create a session +POST /sessions is answered 401`, ` +→ the token must be`,
			`skipped +subscribe to it`)
		if status != 1 || strings.Count(report, "\nfail") != 1 || strings.Contains(report, "delete") {
			t.Errorf("status %d\n%s", status, report)
		}
	})
	t.Run("checks the APIs of a system that does not describe itself", func(t *testing.T) {
		report, status := doctor(t, "RETHREAD_URL="+sys.LambdaURL)
		wants(t, report, `skipped +AWS's services`, `fail +API +\S+ answers 404 Not Found where 401 is due`, `warn +a session +not tried: there is no token`)
		if status != 1 {
			t.Errorf("status %d", status)
		}
	})
	t.Run("reports that no system answers", func(t *testing.T) {
		report, status := doctor(t, "RETHREAD_URL=http://127.0.0.1:1")
		wants(t, report, `fail +system +no such system`, ` +→ start one with make run`)
		if status != 1 {
			t.Errorf("status %d", status)
		}
	})
	t.Run("skips the steps after a failed one, and deletes the session", func(t *testing.T) {
		report, status := doctor(t, "RETHREAD_URL="+discreet(t, sys), "RETHREAD_WS_URL=ws://127.0.0.1:1", "TOKEN="+sys.User(t, "doctor").Token)
		wants(t, report, `ok +create a session`, `fail +subscribe to it +connect to ws://127.0.0.1:1`, `skipped +append, and see it live`,
			`skipped +rewind`, `skipped +fork`, `ok +delete what was tried`)
		if status != 1 {
			t.Errorf("status %d", status)
		}
	})
}

// discreet is the address of a proxy to the system's API that, as in the cloud,
// does not describe the system.
func discreet(t *testing.T, sys *e2e.System) string {
	t.Helper()
	target, err := url.Parse(sys.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/dev/") {
			http.NotFound(rw, r)
			return
		}
		proxy.ServeHTTP(rw, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}
