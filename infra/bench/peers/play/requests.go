package play

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/bench/meter/scenario"
)

var errAnswer = errors.New("unexpected answer")

// request sends a request, which must succeed, and decodes its answer into out unless that
// is nil.
func (s *system) request(ctx context.Context, method, path string, body, out any) error {
	var payload []byte
	if body != nil {
		var err error
		if payload, err = json.Marshal(body); err != nil {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, bytes.NewReader(payload))
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err // the error names the request
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if res.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s %s: %w: %s\n%s", method, path, errAnswer, res.Status, answer)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}

const sessions = "/api/v1/sessions"

// made is the answer to what creates a session.
type made struct {
	Data struct {
		ID string `json:"id"`
	} `json:"data"`
}

func (s *system) Turn(ctx context.Context, thread, question, answer string) error {
	if s.paths[thread] == "" {
		var m made
		if err := s.request(ctx, http.MethodPost, sessions, map[string]any{"agent": scenario.AgentName}, &m); err != nil {
			return err
		}
		s.paths[thread] = sessions + "/" + m.Data.ID
	}
	invocation := uuid.NewString()
	event := func(n int, author, text string) map[string]any {
		return map[string]any{
			"id": fmt.Sprintf("%s.%d", invocation, n), "invocation_id": invocation, "author": author, "content": said(author, text),
		}
	}
	body := map[string]any{"events": []any{event(0, "user", question), event(1, scenario.AgentName, answer)}}
	s.last[thread] = invocation
	return s.request(ctx, http.MethodPost, s.paths[thread]+"/events", body, nil)
}

func (s *system) Load(ctx context.Context, thread string) ([]string, error) {
	var texts []string
	for query := ""; ; {
		var page struct {
			Data struct {
				Items []struct {
					Content message `json:"content"`
				} `json:"items"`
			} `json:"data"`
			Meta struct {
				Next string `json:"next_cursor"`
			} `json:"meta"`
		}
		if err := s.request(ctx, http.MethodGet, fmt.Sprintf("%s/thread?limit=%d%s", s.paths[thread], largest, query), nil, &page); err != nil {
			return nil, err
		}
		for _, item := range page.Data.Items {
			texts = append(texts, item.Content.text())
		}
		if page.Meta.Next == "" {
			return texts, nil
		}
		query = "&cursor=" + url.QueryEscape(page.Meta.Next)
	}
}

func (s *system) before(thread string) map[string]any {
	return map[string]any{"rewind_before_invocation_id": s.last[thread]}
}

func (s *system) Rewind(ctx context.Context, thread string) error {
	return s.request(ctx, http.MethodPost, s.paths[thread]+"/rewind", s.before(thread), nil)
}

func (s *system) Fork(ctx context.Context, thread, into string) error {
	var m made
	err := s.request(ctx, http.MethodPost, s.paths[thread]+"/fork", s.before(thread), &m)
	s.paths[into] = sessions + "/" + m.Data.ID
	return err
}

// Stream has the worker ask an agent that answers at the speed of a model.
func (s *system) Stream(ctx context.Context, thread, question string, tokens []string) error {
	s.agent.Answer(tokens, time.Second/TokensPerSecond)
	answers := s.agent.Answers()
	body := map[string]any{"input": []any{map[string]any{"content": said("user", question)}}}
	if err := s.request(ctx, http.MethodPost, s.paths[thread]+"/runs", body, nil); err != nil {
		return err
	}
	if err := s.agent.Await(ctx, answers+1); err != nil {
		return err
	}
	return s.meter.Settle(ctx, systemQuiet, sweeper)
}
