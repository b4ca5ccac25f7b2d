// Command goside is the agent of the Python tests built with ADK for Go, for the
// same sessions. It is configured by the environment variables RETHREAD_URL,
// RETHREAD_TOKEN and RETHREAD_USER.
//
//	goside say SESSION TEXT            sends a message, and prints the invocation's id
//	goside rewind SESSION INVOCATION   rewinds to before the invocation
//	goside show SESSION                prints the events, state and artifacts that ADK for Go reads
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/artifact"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"

	"github.com/rethread/rethread/clients/go/adk"
)

const app = "trips"

var errUsage = errors.New("usage: goside say|rewind|show SESSION [TEXT|INVOCATION]")

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) < 2 {
		return errUsage
	}
	services, err := adk.NewRemote(adk.Remote{
		URL:   os.Getenv("RETHREAD_URL"),
		Token: func(context.Context, string) (string, error) { return os.Getenv("RETHREAD_TOKEN"), nil },
	})
	if err != nil {
		return err
	}
	s := side{services, os.Getenv("RETHREAD_USER"), args[1], out}
	switch {
	case args[0] == "show":
		return s.show(ctx)
	case args[0] == "say" && len(args) == 3:
		return s.say(ctx, args[2])
	case args[0] == "rewind" && len(args) == 3:
		_, err := services.Sessions.Rewind(ctx, &adk.RewindRequest{
			AppName: app, UserID: s.user, SessionID: s.id, BeforeInvocationID: args[2],
		})
		return err
	}
	return errUsage
}

// side is one user's session.
type side struct {
	*adk.Services

	user, id string
	out      io.Writer
}

func (s side) say(ctx context.Context, text string) error {
	booking, err := functiontool.New(functiontool.Config{Name: "book", Description: "Books a trip."}, book)
	if err != nil {
		return err
	}
	guide, err := llmagent.New(llmagent.Config{Name: "guide", Model: script{}, Tools: []tool.Tool{booking}})
	if err != nil {
		return err
	}
	r, err := runner.New(runner.Config{
		AppName: app, Agent: guide, SessionService: s.Sessions, ArtifactService: s.Artifacts,
	})
	if err != nil {
		return err
	}
	invocation := ""
	for e, err := range r.Run(ctx, s.user, s.id, genai.NewContentFromText(text, genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			return err
		}
		invocation = e.InvocationID
	}
	_, err = fmt.Fprintln(s.out, invocation)
	return err
}

// shown is a session as read by ADK for Go.
type shown struct {
	Events    []*session.Event       `json:"events"`
	State     map[string]any         `json:"state"`
	Artifacts map[string]*genai.Part `json:"artifacts"`
}

func (s side) show(ctx context.Context) error {
	got, err := s.Sessions.Get(ctx, &session.GetRequest{AppName: app, UserID: s.user, SessionID: s.id})
	if err != nil {
		return err
	}
	all := shown{Events: []*session.Event{}, State: map[string]any{}, Artifacts: map[string]*genai.Part{}}
	for e := range got.Session.Events().All() {
		all.Events = append(all.Events, e)
	}
	for key, v := range got.Session.State().All() {
		all.State[key] = v
	}
	names, err := s.Artifacts.List(ctx, &artifact.ListRequest{AppName: app, UserID: s.user, SessionID: s.id})
	if err != nil {
		return err
	}
	for _, name := range names.FileNames {
		loaded, err := s.Artifacts.Load(ctx, &artifact.LoadRequest{
			AppName: app, UserID: s.user, SessionID: s.id, FileName: name,
		})
		if err != nil {
			return err
		}
		all.Artifacts[name] = loaded.Part
	}
	return json.NewEncoder(s.out).Encode(all)
}
