package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/google/uuid"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/remoteagent/v2"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"
)

const app, user = "clients", "someone"

// adkStory is a story with the remote agent of adk-go.
type adkStory struct {
	*report
	name      string
	streaming bool
	sessions  session.Service
	runner    *runner.Runner
	other     *a2aclient.Client // that of another way, which lists tasks
}

func playADK(ctx context.Context, r *report, way speaking, streaming bool, lists speaking) error {
	s := &adkStory{report: r, name: "adk-go, " + way.name, streaming: streaming, sessions: session.InMemoryService()}
	if !streaming {
		s.name += ", no stream"
	}
	var err error
	if s.other, err = lists.factory.CreateFromCard(ctx, lists.card); err != nil {
		return err
	}
	remote, err := remoteagent.NewA2A(remoteagent.A2AConfig{
		Name: "remote", AgentCard: way.card, ClientProvider: remoteagent.NewA2AClientProvider(way.factory),
		BeforeRequestCallbacks: []remoteagent.BeforeA2ARequestCallback{
			func(ctx agent.Context, req *a2a.SendMessageRequest) (*session.Event, error) {
				req.Message.ContextID = ctx.SessionID() // so that another client finds the task
				return nil, nil
			},
		},
	})
	if err != nil {
		return err
	}
	s.runner, err = runner.New(runner.Config{AppName: app, Agent: remote, SessionService: s.sessions, AutoCreateSession: true})
	if err != nil {
		return err
	}
	s.part(s.name+": answer", func() error { return s.answer(ctx) })
	s.part(s.name+": question", func() error { return s.question(ctx) })
	s.part(s.name+": failure", func() error { return s.failure(ctx) })
	s.part(s.name+": cancel", func() error { return s.cancel(ctx) })
	return s.other.Destroy()
}

func (s *adkStory) check(what string, passed bool, shown any) {
	s.report.check(s.name+": "+what, passed, shown)
}

// say runs the agent and returns its events, and those that the session keeps.
func (s *adkStory) say(ctx context.Context, id string, content *genai.Content) (events, kept []*session.Event, err error) {
	config := agent.RunConfig{StreamingMode: agent.StreamingModeSSE}
	if !s.streaming {
		config.StreamingMode = agent.StreamingModeNone
	}
	for e, err := range s.runner.Run(ctx, user, id, content, config) {
		if err != nil {
			return nil, nil, err
		}
		events = append(events, e)
	}
	got, err := s.sessions.Get(ctx, &session.GetRequest{AppName: app, UserID: user, SessionID: id})
	if err != nil {
		return nil, nil, err
	}
	for e := range got.Session.Events().All() {
		if e.Author != "user" {
			kept = append(kept, e)
		}
	}
	if len(events) == 0 || len(kept) == 0 {
		return nil, nil, fmt.Errorf("the agent said nothing: %d events, %d kept", len(events), len(kept))
	}
	return events, kept, nil
}

func text(text string) *genai.Content { return genai.NewContentFromText(text, genai.RoleUser) }

func (s *adkStory) answer(ctx context.Context) error {
	id := uuid.NewString()
	events, kept, err := s.say(ctx, id, text("hello"))
	if err != nil {
		return err
	}
	s.check("no error", !slices.ContainsFunc(events, func(e *session.Event) bool { return e.ErrorMessage != "" }), shown(events))
	s.check("kept once", said == textOfEvents(kept), shown(kept))
	pieces := slices.DeleteFunc(slices.Clone(events), func(e *session.Event) bool { return !e.Partial })
	if len(pieces) > 0 {
		s.check("in pieces", strings.HasPrefix(said, textOfEvents(pieces)), shown(pieces))
	}
	_, kept, err = s.say(ctx, id, text("again"))
	if err != nil {
		return err
	}
	s.check("the next answer", textOfEvents(kept) == said+`You said: "again". That is all.`, shown(kept))
	return nil
}

func (s *adkStory) question(ctx context.Context) error {
	id := uuid.NewString()
	_, kept, err := s.say(ctx, id, text("ask"))
	if err != nil {
		return err
	}
	last := kept[len(kept)-1]
	s.check("a long-running call", slices.Equal(last.LongRunningToolIDs, []string{"call-1"}), shown(kept))
	s.check("no other call", slices.Equal(slices.Compact(callsOf(kept)), []string{"confirm"}), shown(kept))
	s.check("no text", textOfEvents(kept) == "", shown(kept))
	answer := genai.NewPartFromFunctionResponse("confirm", map[string]any{"ok": true})
	answer.FunctionResponse.ID = "call-1"
	_, kept, err = s.say(ctx, id, genai.NewContentFromParts([]*genai.Part{answer}, genai.RoleUser))
	if err != nil {
		return err
	}
	s.check("goes on", strings.HasSuffix(textOfEvents(kept), `You decided: {"ok":true}`), shown(kept))
	return nil
}

func (s *adkStory) failure(ctx context.Context) error {
	id := uuid.NewString()
	events, kept, err := s.say(ctx, id, text("fail"))
	if err != nil {
		return err
	}
	s.check("an error", events[len(events)-1].ErrorMessage == "I was asked to fail.", shown(events))
	s.check("what came before, and no more", textOfEvents(kept) == "This goes well, ", shown(kept))
	_, kept, err = s.say(ctx, id, text("hello"))
	if err != nil {
		return err
	}
	s.check("goes on after it", strings.HasSuffix(textOfEvents(kept), said), shown(kept))
	return nil
}

func (s *adkStory) cancel(ctx context.Context) error {
	id := uuid.NewString()
	cancelled := make(chan error, 1)
	go func() { cancelled <- s.cancelTaskOf(ctx, id) }()
	events, kept, err := s.say(ctx, id, text("endless"))
	if err != nil {
		return err
	}
	if err := <-cancelled; err != nil {
		return err
	}
	last := events[len(events)-1]
	s.check("ends without an error", last.TurnComplete && last.ErrorMessage == "", shown(events))
	words := strings.Fields(textOfEvents(kept))
	for i, word := range words {
		if word != fmt.Sprintf("word%d", i) {
			s.check("what came before", false, words)
			return nil
		}
	}
	s.check("what came before", len(words) > 0, words)
	return nil
}

// cancelTaskOf cancels the task of a context once it is at work, as another
// client would.
func (s *adkStory) cancelTaskOf(ctx context.Context, contextID string) error {
	ctx, stop := context.WithTimeout(ctx, wait)
	defer stop()
	every := time.NewTicker(50 * time.Millisecond)
	defer every.Stop()
	for {
		listed, err := s.other.ListTasks(ctx, &a2a.ListTasksRequest{ContextID: contextID, IncludeArtifacts: true})
		if err == nil && len(listed.Tasks) > 0 && len(listed.Tasks[0].Artifacts) > 0 {
			_, err = s.other.CancelTask(ctx, &a2a.CancelTaskRequest{ID: listed.Tasks[0].ID})
			return err
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			return fmt.Errorf("no task is at work: %w", ctx.Err())
		}
	}
}

func textOfEvents(events []*session.Event) string {
	var out strings.Builder
	for _, e := range events {
		if e.Content == nil {
			continue
		}
		for _, p := range e.Content.Parts {
			out.WriteString(p.Text)
		}
	}
	return out.String()
}

func callsOf(events []*session.Event) []string {
	var out []string
	for _, e := range events {
		if e.Content == nil {
			continue
		}
		for _, p := range e.Content.Parts {
			if p.FunctionCall != nil {
				out = append(out, p.FunctionCall.Name)
			}
		}
	}
	return out
}

// shown returns what matters of events, to print.
func shown(events []*session.Event) []string {
	var out []string
	for _, e := range events {
		out = append(out, fmt.Sprintf("partial=%v text=%q calls=%v long=%v error=%q/%q complete=%v",
			e.Partial, textOfEvents([]*session.Event{e}), callsOf([]*session.Event{e}), e.LongRunningToolIDs, e.ErrorCode, e.ErrorMessage, e.TurnComplete))
	}
	return out
}
