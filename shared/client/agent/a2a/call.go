package a2a

import (
	"context"
	"strconv"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/client/agent/output"
	"github.com/rethread/rethread/shared/domain/run"
)

// call is one run of an agent.
type call struct {
	agent *Agent
	peer  *peer
	req   run.Request
	past  past
	items *items

	messageID string
	contextID string
	taskID    string
	state     state
	emitted   state // of the last event
	moved     bool  // the task has changed since the message
	replied   bool  // a message answered
	resumed   bool  // an earlier worker of the run has sent the message
	updates   int
}

func newCall(a *Agent, peer *peer, req run.Request, emit func(run.Output) error) *call {
	c := &call{agent: a, peer: peer, req: req, past: a.pastOf(req)}
	c.messageID = messageIDOf(req)
	c.items = newItems(output.New(req, emit), c.past.said)
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
func (c *call) run(ctx context.Context, depth int) error {
	if c.resumed {
		if err := c.follow(ctx); err != nil {
			return err
		}
		return c.finish()
	}
	params := c.message(depth)
	method := methodSend
	if c.peer.streaming {
		method = methodStream
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
func (c *call) resume() {
	for _, e := range c.req.Said {
		if r, ok := c.agent.recordOf(e, c.req); ok {
			c.taskID, c.contextID = r.TaskID, r.ContextID
			c.resumed, c.moved, c.replied = true, true, r.TaskID == ""
		}
	}
}

// message returns the parameters that send the run's message.
func (c *call) message(depth int) map[string]any {
	parts := messageParts(c.req, c.past, c.peer.old)
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
	return params
}

// record returns the record of an event.
func (c *call) record(item, digest string) (any, error) {
	r := record{
		ContextID: c.contextID, TaskID: c.taskID, State: c.state, Item: item, Digest: digest,
		Agent: c.req.Agent, SessionID: c.req.SessionID, LogID: c.req.LogID, Epoch: c.req.Epoch,
	}
	for _, e := range c.req.Events {
		r.Told = max(r.Told, e.Seq)
	}
	var err error
	r.Proof, err = c.agent.proof(c.req.UserID, c.req.AppName, r)
	c.emitted = c.state
	return r, err
}

// finish completes the last item, and fails if the task did.
func (c *call) finish() error {
	if err := c.items.complete(); err != nil {
		return err
	}
	if c.items.out.Items() > 0 && c.emitted == c.state {
		return c.items.out.Finish()
	}
	if err := c.items.event("", "", nil); err != nil { // the agent had nothing to say
		return err
	}
	return c.items.out.Finish()
}

// malformed returns the error for a response without what the protocol requires.
func (c *call) malformed(what string) error {
	return c.items.out.Malformed("a result", fault.New(fault.Malformed, "%s", what))
}
