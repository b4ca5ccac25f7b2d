package main_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rethread/rethread/infra/local/localtest"
)

const (
	startTimeout = 5 * time.Minute
	notesTable   = "arn:aws:dynamodb:us-east-1:000000000000:table/Notes"
)

func TestLocal(t *testing.T) {
	t.Setenv("DYNAMODB_ENDPOINT", "") // the program starts an engine of its own
	dir := t.TempDir()
	bin := filepath.Join(dir, "functions")
	program := localtest.Build(t, ".", filepath.Join(dir, "local"))
	localtest.Build(t, "./testdata/notes", filepath.Join(bin, "notes", "bootstrap"))
	data := filepath.Join(dir, "data")
	arguments := []string{"-http", "127.0.0.1:0", "-template", mustAbs(t, "testdata/template.yaml"), "-bin", bin, "-data", data}
	grants := filepath.Join(dir, "grants.jsonl")
	arguments = append(arguments, "-grants", grants)

	system := mustStart(t, program, arguments...)
	alice := mustToken(t, system, `{"user_id": "alice"}`)
	t.Run("serves a request through gateway, function and table", func(t *testing.T) {
		wantAnswer(t, system, "PUT", "/notes/one", alice, "hello", 204, "")
		wantAnswer(t, system, "GET", "/notes/one", alice, "", 200, "hello")
	})
	t.Run("separates users", func(t *testing.T) {
		wantAnswer(t, system, "GET", "/notes/one", mustToken(t, system, `{"user_id": "bob"}`), "", 404, "")
	})
	t.Run("the gateway refuses invalid requests", func(t *testing.T) {
		wantAnswer(t, system, "GET", "/notes/one", "", "", 401, `{"message":"Unauthorized"}`)
		expired := mustToken(t, system, `{"user_id": "alice", "expires_in": -1}`)
		wantAnswer(t, system, "GET", "/notes/one", expired, "", 401, `{"message":"Unauthorized"}`)
		wantAnswer(t, system, "GET", "/nothing", alice, "", 404, `{"message":"Not Found"}`)
	})
	t.Run("denies calls that a function's policy does not allow", func(t *testing.T) {
		got := mustDo(t, mustRequest(t, system, "GET", "/notes/all", alice, ""))
		if want := "AccessDeniedException: User: arn:aws:sts::000000000000:assumed-role/NotesFunctionRole/NotesFunction" +
			" is not authorized to perform: dynamodb:Scan on resource: " + notesTable; got.status != 403 || !strings.Contains(got.body, want) {
			t.Errorf("%d %s", got.status, got.body)
		}
	})
	t.Run("logs each request on one line", func(t *testing.T) {
		for _, want := range []string{
			`POST /dev/token 200 gateway \d+ms -`,
			`\d\d:\d\d:\d\d\.\d{3} PUT /notes/one 204 NotesFunction \d+ms cold`,
			`GET /notes/one 200 NotesFunction \d+ms warm`, `GET /nothing 404 gateway \d+ms -`,
		} {
			if !regexp.MustCompile(want).MatchString(system.output.String()) {
				t.Errorf("no line %s in\n%s", want, system.output)
			}
		}
	})
	t.Run("an advance of the clock ends tokens and allows new ones", func(t *testing.T) {
		short := mustToken(t, system, `{"user_id": "alice", "expires_in": 3600}`)
		wantAnswer(t, system, "GET", "/notes/one", short, "", 200, "hello")
		if got := mustDo(t, mustRequest(t, system, "POST", "/dev/clock", "", `{"advance_seconds": 3600}`)); got.status != 200 {
			t.Errorf("%d %s", got.status, got.body)
		}
		wantAnswer(t, system, "GET", "/notes/one", short, "", 401, `{"message":"Unauthorized"}`)
		wantAnswer(t, system, "GET", "/notes/one", mustToken(t, system, `{"user_id": "alice", "expires_in": 3600}`), "", 200, "hello")
	})
	t.Run("refuses a data folder in use", func(t *testing.T) {
		wantFailure(t, program, arguments, "in use by another engine")
	})
	t.Run("refuses a port in use", func(t *testing.T) {
		taken := append([]string{}, arguments...)
		taken[1] = strings.TrimPrefix(system.url, "http://")
		wantFailure(t, program, taken, "stop the program that uses it, or choose another address with -http")
	})
	t.Run("stops everything on Ctrl-C", func(t *testing.T) {
		endpoint := system.database
		system.mustStop(t)
		if answers(t, endpoint) {
			t.Error("the engine still answers")
		}
	})
	t.Run("writes the uses of permissions at the end", func(t *testing.T) {
		got, err := os.ReadFile(grants)
		want := strings.Join([]string{
			`{"function":"NotesFunction","action":"dynamodb:GetItem","resource":"` + notesTable + `","calls":4}`,
			`{"function":"NotesFunction","action":"dynamodb:PutItem","resource":"` + notesTable + `","calls":1}`,
			`{"function":"NotesFunction","action":"dynamodb:Scan","resource":"` + notesTable + `","calls":1,"denied":true}`, "",
		}, "\n")
		if err != nil || string(got) != want {
			t.Errorf("%v\n%s", err, got)
		}
	})
	t.Run("keeps data, tokens and the clock across a restart", func(t *testing.T) {
		arguments[1] = strings.TrimPrefix(system.url, "http://")
		again := mustStart(t, program, arguments...)
		wantAnswer(t, again, "GET", "/notes/one", alice, "", 200, "hello")
		if got := mustDo(t, mustRequest(t, again, "GET", "/dev/clock", "", "")); !strings.Contains(got.body, `"ahead_seconds":3600,`) {
			t.Errorf("the clock: %d %s", got.status, got.body)
		}
	})
	t.Run("leaves no engine behind when killed", func(t *testing.T) {
		killed := mustStart(t, program, "-http", "127.0.0.1:0", "-template", arguments[3], "-bin", bin, "-data", "")
		killed.stopped = true
		if err := killed.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = killed.cmd.Wait() // it was killed
		deadline := time.Now().Add(startTimeout)
		for answers(t, killed.database) {
			if time.Now().After(deadline) {
				t.Fatal("the engine still answers")
			}
		}
	})
	t.Run("names functions that are not built", func(t *testing.T) {
		wantFailure(t, program, append(arguments, "-bin", dir), "run `make build`; missing: .*/notes/bootstrap")
	})
	t.Run("names a missing template", func(t *testing.T) {
		wantFailure(t, program, append(arguments, "-http", "127.0.0.1:0", "-template", "none.yaml"), "none.yaml: no such file")
	})
}

// local is a running program.
type local struct {
	cmd       *exec.Cmd
	url       string
	websocket string // empty if the template has no such API
	database  string
	output    *output
	stopped   bool
}

// output collects what the program prints.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *output) add(line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.WriteString(line + "\n")
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// mustStart returns once the program has printed its addresses.
func mustStart(t *testing.T, program string, arguments ...string) *local {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), program, arguments...)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	l := &local{cmd: cmd, output: &output{}}
	t.Cleanup(func() { l.mustStop(t) })
	lines := make(chan string, 1000)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(stdout); scanner.Scan(); {
			l.output.add(scanner.Text())
			lines <- scanner.Text()
		}
	}()
	timeout := time.After(startTimeout)
	for {
		select {
		case line, open := <-lines:
			if !open {
				t.Fatal("the program ended before it was ready")
			}
			words := strings.Fields(line)
			switch {
			case strings.HasPrefix(line, "Rethread answers on "):
				l.url = words[3]
			case len(words) == 2 && words[0] == "websocket":
				l.websocket = words[1]
			case len(words) == 2 && words[0] == "dynamodb":
				l.database = words[1]
				return l
			}
		case <-timeout:
			t.Fatalf("not ready after %s:\n%s", startTimeout, l.output)
		}
	}
}

func (l *local) mustStop(t *testing.T) {
	t.Helper()
	if l.stopped {
		return
	}
	l.stopped = true
	if err := l.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Error(err)
	}
	if err := l.cmd.Wait(); err != nil {
		t.Errorf("it did not stop cleanly: %v", err)
	}
}

// wantFailure runs the program, which must exit with status 1 and the reason.
func wantFailure(t *testing.T, program string, arguments []string, reason string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, arguments...).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Fatalf("got %v, want exit status 1:\n%s", err, out)
	}
	if !regexp.MustCompile(reason).Match(out) {
		t.Errorf("output %q, want %s", out, reason)
	}
}

// answers reports whether something listens at the address.
func answers(t *testing.T, url string) bool {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		return false
	}
	return conn.Close() == nil
}

func mustToken(t *testing.T, l *local, request string) string {
	t.Helper()
	var answer struct{ Token string }
	got := mustDo(t, mustRequest(t, l, "POST", "/dev/token", "", request))
	if err := json.Unmarshal([]byte(got.body), &answer); err != nil {
		t.Fatal(err)
	}
	return answer.Token
}

func wantAnswer(t *testing.T, l *local, method, path, token, body string, status int, want string) {
	t.Helper()
	got := mustDo(t, mustRequest(t, l, method, path, token, body))
	if got.status != status || got.body != want {
		t.Errorf("%s %s: %d %q, want %d %q", method, path, got.status, got.body, status, want)
	}
}

func mustRequest(t *testing.T, l *local, method, path, token, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, l.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "text/plain")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return req
}

// reply is a response that was read completely.
type reply struct {
	status int
	header http.Header
	body   string
}

func mustDo(t *testing.T, req *http.Request) reply {
	t.Helper()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, string(body)}
}

func mustAbs(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}
