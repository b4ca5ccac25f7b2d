package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
)

// a2aStory is a story with a client of a2a-go.
type a2aStory struct {
	*report
	name   string
	client *a2aclient.Client
}

func playA2A(ctx context.Context, r *report, way speaking) error {
	client, err := way.factory.CreateFromCard(ctx, way.card)
	if err != nil {
		return fmt.Errorf("make a client from the card, %s: %w", way.name, err)
	}
	s := &a2aStory{r, "a2a-go, " + way.name, client}
	s.part(s.name+": answer", func() error { return s.answer(ctx) })
	s.part(s.name+": stream", func() error { return s.stream(ctx) })
	s.part(s.name+": question", func() error { return s.question(ctx) })
	s.part(s.name+": failure", func() error { return s.failure(ctx) })
	s.part(s.name+": cancel", func() error { return s.cancel(ctx) })
	return client.Destroy()
}

func (s *a2aStory) check(what string, passed bool, shown any) {
	s.report.check(s.name+": "+what, passed, shown)
}

func message(parts ...*a2a.Part) *a2a.SendMessageRequest {
	return &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, parts...)}
}

func (s *a2aStory) send(ctx context.Context, req *a2a.SendMessageRequest) (*a2a.Task, error) {
	got, err := s.client.SendMessage(ctx, req)
	if err != nil {
		return nil, err
	}
	task, ok := got.(*a2a.Task)
	if !ok {
		return nil, fmt.Errorf("the answer is a %T", got)
	}
	return task, nil
}

func (s *a2aStory) answer(ctx context.Context) error {
	task, err := s.send(ctx, message(a2a.NewTextPart("hello")))
	if err != nil {
		return err
	}
	s.check("completed", task.Status.State == a2a.TaskStateCompleted, task.Status)
	s.check("the answer", textOf(task.Artifacts...) == said, task.Artifacts)
	again, err := s.client.GetTask(ctx, &a2a.GetTaskRequest{ID: task.ID})
	if err != nil {
		return err
	}
	s.check("the same when read", textOf(again.Artifacts...) == said, again.Artifacts)
	return nil
}

func (s *a2aStory) stream(ctx context.Context) error {
	var closing string
	var last a2a.TaskState
	artifacts := map[a2a.ArtifactID]string{}
	for event, err := range s.client.SendStreamingMessage(ctx, message(a2a.NewTextPart("hello"))) {
		if err != nil {
			return err
		}
		switch e := event.(type) {
		case *a2a.Task:
			last = e.Status.State
			for _, a := range e.Artifacts {
				artifacts[a.ID] = textOf(a)
			}
		case *a2a.TaskStatusUpdateEvent:
			last = e.Status.State
		case *a2a.TaskArtifactUpdateEvent:
			before := artifacts[e.Artifact.ID]
			if !e.Append {
				before = ""
			}
			artifacts[e.Artifact.ID] = before + textOf(e.Artifact)
			if e.LastChunk && !e.Append {
				closing += textOf(e.Artifact)
			}
		}
	}
	var all strings.Builder
	for _, text := range artifacts {
		all.WriteString(text)
	}
	s.check("the stream ends", last == a2a.TaskStateCompleted, last)
	s.check("the stream adds up", all.String() == said, artifacts)
	s.check("the closing chunk has everything", closing == said, closing)
	return nil
}

func (s *a2aStory) question(ctx context.Context) error {
	task, err := s.send(ctx, message(a2a.NewTextPart("ask")))
	if err != nil {
		return err
	}
	s.check("waits for input", task.Status.State == a2a.TaskStateInputRequired, task.Status)
	if task.Status.Message == nil || len(task.Status.Message.Parts) != 1 {
		return fmt.Errorf("the question is %+v", task.Status)
	}
	call := task.Status.Message.Parts[0]
	raw, err := json.Marshal(call.Data())
	if err != nil {
		return err
	}
	s.check("one call", strings.Contains(string(raw), `"id":"call-1"`), string(raw))
	s.check("marked as long-running", call.Metadata["adk_is_long_running"] == true, call.Metadata)
	response := a2a.NewDataPart(map[string]any{"id": "call-1", "name": "confirm", "response": map[string]any{"ok": true}})
	response.SetMeta("adk_type", "function_response")
	reply := message(response)
	reply.Message.TaskID, reply.Message.ContextID = task.ID, task.ContextID
	done, err := s.send(ctx, reply)
	if err != nil {
		return err
	}
	s.check("goes on in the same task", done.ID == task.ID && strings.Contains(textOf(done.Artifacts...), `You decided: {"ok":true}`), done)
	return nil
}

func (s *a2aStory) failure(ctx context.Context) error {
	task, err := s.send(ctx, message(a2a.NewTextPart("fail")))
	if err != nil {
		return err
	}
	s.check("failed", task.Status.State == a2a.TaskStateFailed, task.Status)
	s.check("a reason", task.Status.Message != nil && task.Status.Message.Parts[0].Text() == "I was asked to fail.", task.Status.Message)
	s.check("what came before", textOf(task.Artifacts...) == "This goes well, ", task.Artifacts)
	return nil
}

func (s *a2aStory) cancel(ctx context.Context) error {
	req := message(a2a.NewTextPart("endless"))
	req.Config = &a2a.SendMessageConfig{ReturnImmediately: true}
	task, err := s.send(ctx, req)
	if err != nil {
		return err
	}
	var last a2a.TaskState
	for event, err := range s.client.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: task.ID}) {
		if err != nil {
			return err
		}
		switch e := event.(type) {
		case *a2a.Task:
			if _, err := s.client.CancelTask(ctx, &a2a.CancelTaskRequest{ID: task.ID}); err != nil {
				return err
			}
		case *a2a.TaskStatusUpdateEvent:
			last = e.Status.State
		}
	}
	s.check("cancelled", last == a2a.TaskStateCanceled, last)
	return nil
}

func textOf(artifacts ...*a2a.Artifact) string {
	var out strings.Builder
	for _, a := range artifacts {
		for _, p := range a.Parts {
			out.WriteString(p.Text())
		}
	}
	return out.String()
}
