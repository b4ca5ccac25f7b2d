package e2e_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/test/e2e"
	"github.com/rethread/rethread/infra/test/e2e/host"
)

// mustReadDocuments returns documents as one text.
func mustReadDocuments(t *testing.T, names ...string) string {
	t.Helper()
	var all strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// mustBlocks returns the code blocks of a language, in order.
func mustBlocks(t *testing.T, text, language string) []string {
	t.Helper()
	var out []string
	for _, found := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(text, -1) {
		out = append(out, found[1])
	}
	if len(out) == 0 {
		t.Fatalf("the documents have nothing in %s", language)
	}
	return out
}

// TestReadme checks that the README and the pages that it continues on work as
// written: their agent runs with a system configured as they show, their commands
// print the promised output, and their Go code compiles and runs.
func TestReadme(t *testing.T) {
	t.Parallel()
	// Each page continues the previous one.
	text := mustReadDocuments(t, "README.md", "docs/getting-started.md", "docs/agents.md", "docs/restore.md")
	configured := regexp.MustCompile(`AGENTS='(\{"parrot".*\})' make run`).FindStringSubmatch(text)
	if configured == nil {
		t.Fatal("the documents configure no agent")
	}
	port := startAgent(t, "node", "agent.mjs", mustBlocks(t, text, "js")[0])
	python := startAgent(t, "python3", "agent.py", mustBlocks(t, text, "python")[0])
	both := strings.Replace(configured[1], "{", `{"python": {"type": "http", "url": "http://127.0.0.1:`+python+`"}, `, 1)
	system := e2e.Start(t, "AGENTS="+strings.ReplaceAll(both, ":8080", ":"+port))
	text = strings.ReplaceAll(text, "http://127.0.0.1:3000", system.URL)
	t.Run("the Go code runs", func(t *testing.T) { testGo(t, system, mustBlocks(t, text, "go")[0]) })
	t.Run("the agent in Python answers as the other one", func(t *testing.T) { testAgent(t, system, "python") })
	t.Run("the page on rewinds over A2A", func(t *testing.T) { testRewindPage(t, system, "parrot") })
	t.Run("the commands print the promised output", func(t *testing.T) { // the last, because they advance the clock
		testCommands(t, strings.Join(mustBlocks(t, text, "sh"), ""))
	})
}

// requestLine is what Python's server says of a request.
var requestLine = regexp.MustCompile(`(?m)^.*"POST / HTTP/1\.1" 200 -\n`)

// testAgent asks an agent of docs/agents.md over A2A, and checks its answer and state.
func testAgent(t *testing.T, system *e2e.System, name string) {
	t.Helper()
	user := system.User(t, "reader-"+name)
	message := map[string]any{
		"kind": "message", "messageId": "m1", "contextId": name, "role": "user",
		"parts": []map[string]any{{"kind": "text", "text": "hello"}},
	}
	request := map[string]any{"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": map[string]any{"message": message}}
	if answer := user.Post("/a2a/"+name, request).Want(200); !strings.Contains(string(answer.Body), `"text":"You said: hello"`) {
		t.Errorf("it answers %s", answer.Body)
	}
	if state := user.Get(api + "/sessions/" + name + "/state").Want(200); !strings.Contains(string(state.Body), `"session":{"turns":1}`) {
		t.Errorf("the state is %s", state.Body)
	}
}

// startAgent runs an agent until the test ends, and returns its port.
func startAgent(t *testing.T, program, name, source string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	cmd := exec.CommandContext(t.Context(), program, path)
	cmd.Env = append(os.Environ(), "PORT="+port)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the test's context has ended it
		err := cmd.Wait()
		if rest := requestLine.ReplaceAllString(said.String(), ""); rest != "" {
			t.Errorf("the agent: %v\n%s", err, rest)
		}
	})
	return port
}

func freePort(t *testing.T) string {
	t.Helper()
	var free net.ListenConfig
	listener, err := free.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // only its port is wanted
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// testCommands runs a script: each `# prints x` must be in the output of the
// preceding command.
func testCommands(t *testing.T, script string) {
	t.Helper()
	// The script prints a marker at each promise, so that the output since the
	// previous one can be checked.
	promise := regexp.MustCompile(`(?m)^# prints (.*)$`)
	cmd := exec.CommandContext(t.Context(), "bash", "-c", "set -eu\n"+promise.ReplaceAllString(script, "echo; echo ===="))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	printed := strings.Split(string(out), "====\n")
	promises := promise.FindAllStringSubmatch(script, -1)
	t.Logf("%d promises", len(promises))
	if len(promises) < 25 || len(printed) != len(promises)+1 {
		t.Fatalf("%d promises, %d outputs:\n%s", len(promises), len(printed), out)
	}
	for i, p := range promises {
		if !strings.Contains(printed[i], p[1]) {
			t.Errorf("%s is promised, got %s", p[1], printed[i])
		}
	}
}

// program is the code around the Go snippet of docs/agents.md: an agent that
// greets, and a user who sends it two messages.
const program = `package main

import (
	"context"
	"fmt"
	"iter"
	"os"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/rethread/rethread/clients/go/adk"
)

func main() {
	if err := run(context.Background(), os.Getenv("TOKEN")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func greet(ctx agent.InvocationContext) iter.Seq2[*session.Event, error] {
	return func(yield func(*session.Event, error) bool) {
		e := session.NewEvent(ctx, ctx.InvocationID())
		e.Author = "guide"
		e.Content = genai.NewContentFromText("hello", genai.RoleModel)
		yield(e, nil)
	}
}

func run(ctx context.Context, token string) error {
	guide, err := agent.New(agent.Config{Name: "guide", Run: greet})
	if err != nil {
		return err
	}
%s	if err != nil {
		return err
	}
	made, err := services.Sessions.Create(ctx, &session.CreateRequest{AppName: "trips", UserID: "alice", SessionID: "go"})
	if err != nil {
		return err
	}
	for range 2 {
		hi := genai.NewContentFromText("hi", genai.RoleUser)
		for _, err := range r.Run(ctx, "alice", made.Session.ID(), hi, agent.RunConfig{}) {
			if err != nil {
				return err
			}
		}
	}
	return nil
}
`

// testGo compiles and runs a snippet, and checks the session's content.
func testGo(t *testing.T, system *e2e.System, snippet string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(path, fmt.Appendf(nil, program, snippet), 0o600); err != nil {
		t.Fatal(err)
	}
	token, err := host.Token(t.Context(), system.URL, "alice")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", path)
	cmd.Dir = system.Root
	cmd.Env = append(os.Environ(), "TOKEN="+token)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	said := system.Bearer(t, "alice", token).Get(api + "/sessions/go/events").Want(200)
	if got := strings.Join(said.Each("data", "author"), " "); got != "user guide user guide" {
		t.Errorf("the session holds %s", said.Body)
	}
}
