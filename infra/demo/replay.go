package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/rethread/rethread/infra/test/e2e/pick"
)

func (s *story) judge(ctx context.Context) error {
	s.chapter("Alice likes the first answer")
	first := s.tasks[0]
	if _, err := s.alice.call(ctx, http.StatusAccepted, http.MethodPost, "/feedback", object{
		"taskId": first["task_id"], "feedbackType": "up", "feedbackText": "Very helpful!", "sessionId": s.id,
	}); err != nil {
		return err
	}
	first["task_metadata"] = object{
		"status": "completed", "agent_name": "data_analyst",
		"feedback": object{"type": "up", "text": "Very helpful!", "submitted": true},
	}
	s.note("stored, and written into the task it is about")
	return nil
}

// reload reads everything anew, as a browser does, and compares it with what
// was saved.
func (s *story) reload(ctx context.Context) error {
	s.chapter("She reloads the page; this is what comes back")
	body, err := s.alice.call(ctx, http.StatusOK, http.MethodGet, s.path+"/tasks", nil)
	if err != nil {
		return err
	}
	for i, saved := range s.tasks {
		at := fmt.Sprintf("tasks.%d.", i)
		for _, field := range []string{"task_id", "user_message", "message_bubbles", "task_metadata"} {
			want, err := canonical(saved[field])
			if err != nil {
				return err
			}
			if err := expect(body, at+field, want); err != nil {
				return err
			}
		}
		if err := s.replay(body, at+"message_bubbles"); err != nil {
			return err
		}
	}
	s.note("both tasks are equal in every field")
	events, err := s.alice.call(ctx, http.StatusOK, http.MethodGet, s.path+"/events", nil)
	if err != nil {
		return err
	}
	for i, t := range turns() {
		if err := expectText(events, fmt.Sprintf("data.%d.content.parts.0.text", 2*i+2), t.answer); err != nil {
			return err
		}
	}
	s.note("and so is the log")
	return nil
}

func (s *story) replay(body []byte, path string) error {
	raw, err := pick.Raw(body, path)
	if err != nil {
		return err
	}
	var bubbles []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Artifact struct {
			Name    string `json:"name"`
			Version int    `json:"version"`
		} `json:"artifactNotification"`
	}
	if err := json.Unmarshal(raw, &bubbles); err != nil {
		return fmt.Errorf("read the bubbles: %w", err)
	}
	for _, b := range bubbles {
		switch b.Type {
		case "user":
			s.says("alice", b.Text)
		case "agent":
			s.says("data_analyst", b.Text)
		default:
			s.says("artifact", fmt.Sprintf("%s, version %d", b.Artifact.Name, b.Artifact.Version))
		}
	}
	return nil
}

func (s *story) intrude(ctx context.Context) error {
	s.chapter("Bob knows the address, and that does not help him")
	if _, err := s.bob.call(ctx, http.StatusForbidden, http.MethodGet, s.path+"/tasks", nil); err != nil {
		return err
	}
	s.note("403: the session is Alice's")
	return nil
}

func (s *story) leave(ctx context.Context) error {
	s.chapter("Alice deletes the session")
	if _, err := s.alice.call(ctx, http.StatusNoContent, http.MethodDelete, s.path, nil); err != nil {
		return err
	}
	if _, err := s.alice.call(ctx, http.StatusNotFound, http.MethodGet, s.path+"/tasks", nil); err != nil {
		return err
	}
	s.note("204, then 404: tasks, events and state went with it")
	return s.forkIsWhole(ctx)
}

// expect compares the JSON at a path, whatever the order of members.
func expect(body []byte, path, want string) error {
	raw, err := pick.Raw(body, path)
	if err != nil {
		return err
	}
	got, err := inOrder(raw)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	if got != want {
		return fmt.Errorf("%w: %s is\n%s\nand should be\n%s", errUnexpected, path, got, want)
	}
	return nil
}

// expectSame is expect for JSON whose members are in any order too.
func expectSame(body []byte, path string, want json.RawMessage) error {
	ordered, err := inOrder(want)
	if err != nil {
		return err
	}
	return expect(body, path, ordered)
}

// inOrder is the JSON with its members in order.
func inOrder(raw json.RawMessage) (string, error) {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return "", fmt.Errorf("read JSON: %w", err)
	}
	return canonical(value)
}

func expectText(body []byte, path, want string) error {
	got, err := pick.Text(body, path)
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("%w: %s is %q and should be %q", errUnexpected, path, got, want)
	}
	return nil
}

// canonical is the JSON of a value with its members in order.
func canonical(value any) (string, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("write JSON: %w", err)
	}
	return string(raw), nil
}
