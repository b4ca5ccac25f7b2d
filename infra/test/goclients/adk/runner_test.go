package adk_test

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"

	"github.com/rethread/rethread/clients/go/adk"
)

// scripted is a model that stores the user's message with a tool, and answers
// with all user messages in its history.
type scripted struct{}

func (scripted) Name() string { return "scripted" }

func (scripted) GenerateContent(
	_ context.Context, req *model.LLMRequest, _ bool,
) iter.Seq2[*model.LLMResponse, error] {
	told := []string{}
	answered := false
	for _, content := range req.Contents {
		for _, part := range content.Parts {
			if answered = part.FunctionResponse != nil; !answered && content.Role == genai.RoleUser {
				told = append(told, part.Text)
			}
		}
	}
	answer := genai.NewContentFromText(fmt.Sprint(told), genai.RoleModel)
	if !answered {
		last := map[string]any{"what": told[len(told)-1]}
		answer = genai.NewContentFromFunctionCall("remember", last, genai.RoleModel)
	}
	return func(yield func(*model.LLMResponse, error) bool) {
		yield(&model.LLMResponse{Content: answer, TurnComplete: true}, nil)
	}
}

type memory struct {
	What string `json:"what"`
}

// remember stores the text in the state and in an artifact.
func remember(ctx agent.Context, m memory) (memory, error) {
	for _, key := range []string{"last", "user:last", "temp:last"} {
		if err := ctx.State().Set(key, m.What); err != nil {
			return m, err
		}
	}
	_, err := ctx.Artifacts().Save(ctx, "last.txt", genai.NewPartFromText(m.What))
	return m, err
}

func newRunner(t *testing.T, s *adk.Services) *runner.Runner {
	t.Helper()
	remembering, err := functiontool.New(functiontool.Config{Name: "remember", Description: "remembers"}, remember)
	if err != nil {
		t.Fatal(err)
	}
	root, err := llmagent.New(llmagent.Config{Name: "agent", Model: scripted{}, Tools: []tool.Tool{remembering}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := runner.New(runner.Config{
		AppName: app, Agent: root, SessionService: s.Sessions, ArtifactService: s.Artifacts, AutoCreateSession: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// say runs the agent once and returns its final answer and the invocation.
func say(t *testing.T, r *runner.Runner, text string) (answer, invocation string) {
	t.Helper()
	message := genai.NewContentFromText(text, genai.RoleUser)
	for e, err := range r.Run(t.Context(), alice, "chat", message, agent.RunConfig{}) {
		if err != nil {
			t.Fatal(err)
		}
		invocation = e.InvocationID
		if e.IsFinalResponse() && e.Content != nil {
			answer = e.Content.Parts[0].Text
		}
	}
	return answer, invocation
}

func TestRunner(t *testing.T) {
	t.Parallel()
	s := newSystem(t)
	say(t, newRunner(t, s.Services), "red")
	// New services, as in another process, have only what is stored.
	answer, second := say(t, newRunner(t, s.Services), "green")
	if answer != "[red green]" {
		t.Errorf("answer %q", answer)
	}
	expect(t, s, "green")
	if _, err := s.Sessions.Rewind(t.Context(), rewind("chat", second)); err != nil {
		t.Fatal(err)
	}
	expect(t, s, "red")
	answer, _ = say(t, newRunner(t, s.Services), "blue")
	if answer != "[red blue]" {
		t.Errorf("answer after the rewind %q", answer)
	}
	expect(t, s, "blue")
	if got := s.mustGet(t, "chat").Events().Len(); got != 8 {
		t.Errorf("got %d events, want two turns of four", got)
	}
}

// expect checks the remembered text in the state and in the artifact.
func expect(t *testing.T, s *system, last string) {
	t.Helper()
	want := map[string]any{"last": last, "user:last": last}
	if diff := cmp.Diff(want, stateOf(s.mustGet(t, "chat"))); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
	if got := load(t, s, "chat", "last.txt", 0); got != last {
		t.Errorf("the artifact contains %q, want %q", got, last)
	}
}
