package scenario

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/rethread/rethread/shared/base/retry"
)

// Names of scenarios.
const (
	Streamed = "tokens streamed by the worker, watched by nobody"
	Watched  = "tokens streamed by the worker, watched by one"
	External = "tokens pushed by an external agent, watched by nobody"
	Hour     = "an hour of a watcher: it connects, subscribes, pings every 5 minutes, and leaves"
)

// stream measures answers while they are written, in a session with few turns: a run
// reads its history.
func (t *trial) stream(ctx context.Context) error {
	if t.history != t.Histories[0] {
		return nil
	}
	const turns = 10
	var err error
	if t.session, err = t.client.create(ctx); err != nil {
		return err
	}
	if err := t.fill(ctx, turns); err != nil {
		return err
	}
	if err := t.hour(ctx); err != nil {
		return err
	}
	t.Agent.Answer(tokens(1, 1), 0)
	if err := t.runToItsEnd(ctx); err != nil { // the first run of a user costs a little more
		return err
	}
	run := func() error {
		t.Agent.Answer(tokens(t.turn, t.Tokens), t.TokenEvery)
		return t.runToItsEnd(ctx)
	}
	if err := t.measure(ctx, Streamed, t.Tokens, run); err != nil {
		return err
	}
	t.last().Seconds = t.Agent.Took().Seconds()
	if err := t.measure(ctx, External, t.Tokens, func() error { return t.push(ctx) }); err != nil {
		return err
	}
	return t.watched(ctx, run)
}

// hour measures the requests of a watched hour, which does not take that long.
func (t *trial) hour(ctx context.Context) error {
	const pings = 12
	var w *watcher
	if err := t.measure(ctx, Hour, 1, func() error {
		var err error
		if w, err = t.watch(ctx); err != nil {
			return err
		}
		for range pings {
			answered := w.frames() + 2
			if err := errors.Join(w.send(ctx, object{"action": "ping"}), w.await(ctx, answered)); err != nil {
				return err
			}
		}
		return w.close()
	}); err != nil {
		return err
	}
	t.last().Frames, t.last().Sent = w.frames(), int(w.bytes.Load())
	return nil
}

func (t *trial) last() *Measure { return &t.measures[len(t.measures)-1] }

// watched measures an answer with one watcher, who subscribed before.
func (t *trial) watched(ctx context.Context, run func() error) error {
	w, err := t.watch(ctx)
	if err != nil {
		return err
	}
	before, received := 0, 0
	if err := t.measure(ctx, Watched, t.Tokens, func() error {
		before, received = w.frames(), int(w.bytes.Load())
		return run()
	}); err != nil {
		return err
	}
	m := t.last()
	m.Frames, m.Seconds = w.frames()-before, t.Agent.Took().Seconds()
	m.Sent += int(w.bytes.Load()) - received
	return w.close()
}

// runEnds is what the worker usually takes to end a run after its agent's answer.
const runEnds = 200 * time.Millisecond

// started is the answer to the start of a run.
type started struct {
	Data struct {
		Session struct {
			Run string `json:"active_run_id"`
		} `json:"session"`
	} `json:"data"`
}

func (t *trial) start(ctx context.Context, mode string) (path string, err error) {
	t.turn++
	var run started
	input := object{"content": object{"role": "user", "parts": []object{{"text": question(t.turn)}}}}
	err = t.client.do(ctx, http.StatusAccepted, http.MethodPost, t.session+"/runs", object{"input": []object{input}, "mode": mode}, &run)
	return t.session + "/runs/" + run.Data.Session.Run, err
}

// runToItsEnd starts a run of the agent, once the run before it has ended, and waits until
// its functions are done.
func (t *trial) runToItsEnd(ctx context.Context) error {
	answers := t.Agent.Answers()
	_, err := t.start(ctx, "agent")
	for errors.Is(err, errConflict) {
		if err := t.Meter.Settle(ctx, runEnds, sweeper); err != nil {
			return err
		}
		_, err = t.start(ctx, "agent")
	}
	if err != nil {
		return err
	}
	if err := t.Agent.Await(ctx, answers+1); err != nil {
		return err
	}
	return t.Meter.Settle(ctx, min(t.Quiet, runEnds), sweeper)
}

// push acts as an external agent, which bundles its tokens.
func (t *trial) push(ctx context.Context) error {
	path, err := t.start(ctx, "external")
	if err != nil {
		return err
	}
	all, item := tokens(t.turn, t.Tokens), path[strings.LastIndexByte(path, '/')+1:]+".1" // names its run
	pushes := t.pushes()
	for n := range pushes {
		if err := retry.Sleep(ctx, t.PushEvery); err != nil {
			return err
		}
		text := strings.Join(all[n*len(all)/pushes:(n+1)*len(all)/pushes], "")
		body := object{"item_id": item, "author": AgentName, "offset": n, "deltas": []object{{"part": 0, "text": text}}}
		if err := t.client.do(ctx, http.StatusOK, http.MethodPost, path+"/deltas", body, nil); err != nil {
			return err
		}
	}
	whole := object{"id": item, "content": object{"role": "model", "parts": []object{{"text": strings.Join(all, "")}}}}
	if err := t.client.post(ctx, path+"/events", object{"events": []object{whole}}, nil); err != nil {
		return err
	}
	return t.client.do(ctx, http.StatusOK, http.MethodPatch, path, object{"status": "completed"}, nil)
}

// pushes is how many pushes an answer takes.
func (t *trial) pushes() int {
	return max(1, int(time.Duration(t.Tokens)*time.Second/TokensPerSecond/t.PushEvery))
}
