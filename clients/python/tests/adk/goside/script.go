package main

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"
)

// script behaves as the scripted model in Python: it calls the tool for "book X" and
// echoes anything else.
type script struct{}

// Name implements model.LLM.
func (script) Name() string { return "scripted" }

// GenerateContent implements model.LLM.
func (script) GenerateContent(
	_ context.Context, req *model.LLMRequest, _ bool,
) iter.Seq2[*model.LLMResponse, error] {
	var last *genai.Part
	for _, content := range req.Contents {
		for _, part := range content.Parts {
			last = part
		}
	}
	var answer *genai.Part
	switch city, booking := strings.CutPrefix(last.Text, "book "); {
	case last.FunctionResponse != nil:
		answer = genai.NewPartFromText("Done")
	case booking:
		answer = genai.NewPartFromFunctionCall("book", map[string]any{"city": city})
	default:
		answer = genai.NewPartFromText("You said: " + last.Text)
	}
	return func(yield func(*model.LLMResponse, error) bool) {
		yield(&model.LLMResponse{
			Content: genai.NewContentFromParts([]*genai.Part{answer}, genai.RoleModel), FinishReason: genai.FinishReasonStop,
			UsageMetadata: &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 7, TotalTokenCount: 11},
		}, nil)
	}
}

type trip struct {
	City string `json:"city"`
}

// book books a trip and writes the ticket.
func book(ctx agent.Context, t trip) (trip, error) {
	for key, v := range map[string]any{"city": t.City, "user:last": t.City, "temp:thought": t.City} {
		if err := ctx.State().Set(key, v); err != nil {
			return t, err
		}
	}
	if _, err := ctx.Artifacts().Save(ctx, "ticket.txt", genai.NewPartFromText("To "+t.City)); err != nil {
		return t, err
	}
	if t.City != "Porto" {
		return t, nil
	}
	picture := genai.NewPartFromBytes([]byte{0xfb, 0xff, 0xfe}, "image/png")
	if _, err := ctx.Artifacts().Save(ctx, "map.png", picture); err != nil {
		return t, fmt.Errorf("draw a map: %w", err)
	}
	return t, nil
}
