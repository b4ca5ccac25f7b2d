package tracing

import (
	"context"
	"errors"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"github.com/rethread/rethread/shared/domain/run"
)

// Agents adds spans to the calls of agents, by OpenTelemetry's conventions for
// generative AI: invoke_agent with the agent's name, the session as the conversation,
// and an event at the first content. Spans contain nothing of the conversation.
type Agents struct{ run.Agents }

// Agent implements run.Agents.
func (a Agents) Agent(name string) (run.Agent, bool) {
	agent, ok := a.Agents.Agent(name)
	return tracedAgent{agent}, ok
}

type tracedAgent struct{ run.Agent }

// HistoryLimit implements run.LimitedAgent.
func (a tracedAgent) HistoryLimit() run.HistoryLimit { return run.LimitOf(a.Agent) }

// Continuations implements run.ContinuedAgent.
func (a tracedAgent) Continuations() int { return run.ContinuationsOf(a.Agent) }

// Run implements run.Agent.
func (a tracedAgent) Run(ctx context.Context, req run.Request, emit func(run.Output) error) error {
	ctx, span := below(ctx, "invoke_agent "+req.Agent,
		semconv.GenAIOperationNameInvokeAgent, semconv.GenAIAgentName(req.Agent),
		semconv.GenAIConversationID(req.SessionID), attribute.String("rethread.run.id", req.RunID))
	defer span.End()
	first := sync.OnceFunc(func() { span.AddEvent("first content") })
	err := a.Agent.Run(ctx, req, func(out run.Output) error {
		if out.Item == nil {
			first()
		}
		return emit(out)
	})
	if err != nil {
		fail(span, kindOf(ctx, err))
	}
	return err
}

// kindOf returns the code by which the run shows an error.
func kindOf(ctx context.Context, err error) string {
	var known interface{ Problem() *run.Problem }
	switch {
	case errors.As(err, &known):
		return known.Problem().Code
	case ctx.Err() != nil:
		return run.CodeCancelled
	default:
		return run.CodeAgent
	}
}
