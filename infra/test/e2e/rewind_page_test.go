package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/e2e"
)

// rewindProgram is the code around the Go snippet of docs/a2a-rewind.md. It prints
// the answer.
const rewindProgram = `package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
)

func main() {
	if err := run(context.Background()); err != nil {
		panic(err)
	}
}

type signedIn struct{}

func (signedIn) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))
	return http.DefaultTransport.RoundTrip(r)
}

func run(ctx context.Context) error {
	card, err := agentcard.DefaultResolver.Resolve(ctx, os.Getenv("RETHREAD_URL")+"/a2a/"+os.Getenv("AGENT"))
	if err != nil {
		return err
	}
	client, err := a2aclient.NewFromCard(ctx, card, a2aclient.WithJSONRPCTransport(&http.Client{Transport: signedIn{}}))
	if err != nil {
		return err
	}
	task, err := client.GetTask(ctx, &a2a.GetTaskRequest{ID: a2a.TaskID(os.Getenv("INVOCATION"))})
	if err != nil {
		return err
	}
%s	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"result": map[string]any{"task": answer}})
}
`

// testRewindPage runs the command and the Go code of docs/a2a-rewind.md; its other
// snippets run in infra/test/clients.
func testRewindPage(t *testing.T, sys *e2e.System, agent string) {
	t.Helper()
	text := mustReadDocuments(t, "docs/a2a-rewind.md")
	goCode := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(goCode, fmt.Appendf(nil, rewindProgram, mustBlocks(t, text, "go")[0]), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		command []string
	}{
		{"the command", []string{"bash", "-c", "set -eu\n" + mustBlocks(t, text, "sh")[0]}},
		{"the Go code", []string{"go", "run", goCode}},
	} {
		t.Run(test.name+" rewinds a context", func(t *testing.T) {
			t.Parallel()
			testRewindSnippet(t, sys, agent, test.command)
		})
	}
}

func testRewindSnippet(t *testing.T, sys *e2e.System, agent string, command []string) {
	t.Helper()
	u := sys.User(t, "rewinder")
	contextID, last := uuid.NewString(), ""
	var shown [][]string
	for _, text := range []string{"one", "two"} {
		last = u.Post("/a2a/"+agent, e2e.M{
			"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": e2e.M{"message": e2e.M{
				"messageId": uuid.NewString(), "role": "ROLE_USER", "contextId": contextID, "parts": []e2e.M{{"text": text}},
			}},
		}, e2e.Header("A2A-Version", "1.0")).Want(200).Str("result.task.id")
		shown = append(shown, reload(t, u, contextID))
	}
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir = sys.Root
	cmd.Env = append(os.Environ(),
		"RETHREAD_URL="+sys.URL, "AGENT="+agent, "TOKEN="+u.Token, "CONTEXT="+contextID, "INVOCATION="+last)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var answer struct {
		Result struct {
			Task struct {
				ID     string `json:"id"`
				Status struct {
					State string `json:"state"`
				} `json:"status"`
			} `json:"task"`
		} `json:"result"`
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if task := answer.Result.Task; task.ID != contextID || task.Status.State != "TASK_STATE_COMPLETED" {
		t.Errorf("the answer is %s", out)
	}
	if diff := cmp.Diff(shown[0], reload(t, u, contextID)); len(shown[1]) <= len(shown[0]) || diff != "" {
		t.Errorf("after the rewind (-before the second message +now):\n%s", diff)
	}
}
