package agent

import (
	"context"
	"fmt"
	"strconv"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
)

// a2aCall is one run of an agent.
type a2aCall struct {
	agent *A2A
	peer  *a2aPeer
	req   run.Request
	past  a2aPast
	items *a2aItems

	messageID string
	contextID string
	taskID    string
	state     a2aState
	emitted   a2aState // of the last event
	moved     bool     // the task has changed since the message
	replied   bool     // a message answered
	resumed   bool     // an earlier worker of the run has sent the message
	updates   int
}

func newA2ACall(a *A2A, peer *a2aPeer, req run.Request, emit func(run.Output) error) *a2aCall {
	c := &a2aCall{agent: a, peer: peer, req: req, past: a.endpoint.pastOf(req)}
	c.messageID = messageIDOf(req)
	c.items = newA2AItems(newProducer(req, emit), c.past.said)
	c.items.member = c.record
	c.resume()
	return c
}

// messageIDOf derives the id of a run's message, so that an agent can recognise a
// repeated one. A continuation that tells what had been said is another message.
func messageIDOf(req run.Request) string {
	name := req.AppName + "\x00" + req.UserID + "\x00" + req.SessionID + "\x00" + req.RunID
	if len(req.Said) > 0 {
		name += "\x00" + strconv.Itoa(req.Continuation)
	}
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(name)).String()
}

// run sends the run's message and follows the task to its end, or until it waits for
// its user.
func (c *a2aCall) run(ctx context.Context, depth int) error {
	if c.resumed {
		if err := c.follow(ctx); err != nil {
			return err
		}
		return c.finish()
	}
	params, err := c.message(depth)
	if err != nil {
		return fmt.Errorf("make the request of run %s: %w", c.req.RunID, err)
	}
	method := a2aSend
	if c.peer.streaming {
		method = a2aStream
	}
	if err := c.call(ctx, method, params, c.untilSettled); err != nil && !c.canFollow(err) {
		return err
	}
	if err := c.follow(ctx); err != nil {
		return err
	}
	return c.finish()
}

// resume takes over from an earlier worker of the run, if that had received something:
// then the task only has to be followed. A message that answered was all of it.
func (c *a2aCall) resume() {
	for _, e := range c.req.Said {
		if r, ok := c.agent.endpoint.a2aRecordOf(e, c.req); ok {
			c.taskID, c.contextID = r.TaskID, r.ContextID
			c.resumed, c.moved, c.replied = true, true, r.TaskID == ""
		}
	}
}

// message returns the parameters that send the run's message.
func (c *a2aCall) message(depth int) (map[string]any, error) {
	parts, err := messageParts(c.req, c.past, c.peer.old)
	if err != nil {
		return nil, err
	}
	m := map[string]any{
		"messageId": c.messageID, "role": "ROLE_USER", "parts": parts, "metadata": map[string]any{depthKey: depth},
	}
	named(m, "contextId", c.past.record.ContextID)
	if c.past.record.State.paused() {
		named(m, "taskId", c.past.record.TaskID)
	}
	configuration := map[string]any{"returnImmediately": true}
	if c.peer.old {
		m["role"], m["kind"] = "user", "message"
		configuration = map[string]any{"blocking": false}
	}
	params := map[string]any{"message": m}
	if !c.peer.streaming {
		params["configuration"] = configuration
	}
	return params, nil
}

// record returns the a2aRecord of an event.
func (c *a2aCall) record(item, digest string) (any, error) {
	r := a2aRecord{
		ContextID: c.contextID, TaskID: c.taskID, State: c.state, Item: item, Digest: digest,
		Agent: c.req.Agent, SessionID: c.req.SessionID, Epoch: c.req.Epoch,
	}
	for _, e := range c.req.Events {
		r.Told = max(r.Told, e.Seq)
	}
	var err error
	r.Proof, err = c.agent.endpoint.proof(c.req.UserID, c.req.AppName, r)
	c.emitted = c.state
	return r, err
}

// finish completes the last item, and fails if the task did.
func (c *a2aCall) finish() error {
	if err := c.items.complete(); err != nil {
		return err
	}
	if c.items.out.items > 0 && c.emitted == c.state {
		return c.items.out.finish()
	}
	if err := c.items.event("", "", nil); err != nil { // the agent had nothing to say
		return err
	}
	return c.items.out.finish()
}

// malformed returns the error for a response without what the protocol requires.
func (c *a2aCall) malformed(what string) error {
	return c.items.out.malformed("a result", fault.New(fault.Malformed, "%s", what))
}
