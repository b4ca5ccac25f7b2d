package main

import (
	"context"
	"iter"
	"strings"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"
)

// script stands in for a model: it calls the tool with the user's last message,
// then answers with all user messages in its history.
type script struct{}

func (script) Name() string { return "script" }

func (script) GenerateContent(
	_ context.Context, req *model.LLMRequest, _ bool,
) iter.Seq2[*model.LLMResponse, error] {
	var asked []string
	done := false
	for _, content := range req.Contents {
		for _, part := range content.Parts {
			done = part.FunctionResponse != nil
			if content.Role == genai.RoleUser && !done {
				asked = append(asked, part.Text)
			}
		}
	}
	answer := genai.NewContentFromText("ordered so far: "+strings.Join(asked, ", "), genai.RoleModel)
	if !done && len(asked) > 0 {
		last := map[string]any{"flowers": asked[len(asked)-1]}
		answer = genai.NewContentFromFunctionCall("order", last, genai.RoleModel)
	}
	return func(yield func(*model.LLMResponse, error) bool) {
		yield(&model.LLMResponse{Content: answer, TurnComplete: true}, nil)
	}
}
