package scenario

import (
	"context"
	"net/http"

	"github.com/google/uuid"
)

// Names of scenarios.
const (
	Fork       = "fork before the last invocation"
	ForkDeep   = "fork before the last invocation, of a fork of forks"
	Rewind     = "rewind the last invocation, without state"
	NewTask    = "a new task of 2 KB"
	UpdateTask = "an update of a task of 2 KB"
	Create     = "create a session"
)

// branch measures a rewind, and forks of forks.
func (t *trial) branch(ctx context.Context) error {
	last := t.newTurn()
	if err := t.append(ctx, last); err != nil {
		return err
	}
	boundary := object{"rewind_before_invocation_id": last[0]["invocation_id"]}
	err := t.measure(ctx, Rewind, 1, func() error {
		return t.client.do(ctx, http.StatusOK, http.MethodPost, t.session+"/rewind", boundary, nil)
	})
	if err != nil {
		return err
	}
	own := t.session
	defer func() { t.session = own }()
	for depth := 1; depth <= t.Depth; depth++ {
		if err := t.fork(ctx, depth); err != nil {
			return err
		}
	}
	return t.measure(ctx, Create, 1, func() error {
		_, err := t.client.create(ctx)
		return err
	})
}

// fork forks the session before another turn, and continues in the fork.
func (t *trial) fork(ctx context.Context, depth int) error {
	last := t.newTurn()
	if err := t.append(ctx, last); err != nil {
		return err
	}
	var made identified
	fork := func() error {
		body := object{"rewind_before_invocation_id": last[0]["invocation_id"]}
		return t.client.post(ctx, t.session+"/fork", body, &made)
	}
	var err error
	switch depth {
	case 1:
		err = t.measure(ctx, Fork, 1, fork)
	case t.Depth:
		err = t.measure(ctx, ForkDeep, 1, fork)
	default:
		err = fork()
	}
	t.session = api + "/sessions/" + made.Data.ID
	return err
}

// tasks measures with the session on top of its owner's list.
func (t *trial) tasks(ctx context.Context) error {
	if err := t.append(ctx, t.newTurn()); err != nil {
		return err
	}
	save := func(id string, want int, status string) func() error {
		ask := question(t.turn)
		body := object{
			"task_id": id, "user_message": ask, "task_metadata": object{"status": status, "agent_name": AgentName},
			"message_bubbles": []object{
				{"id": "msg-user-" + id, "type": "user", "text": ask}, {"id": "msg-agent-" + id, "type": "agent", "text": answer(t.turn)[:1250]},
			},
		}
		return func() error { return t.client.do(ctx, want, http.MethodPost, t.session+"/tasks", body, nil) }
	}
	id := uuid.NewString()
	if err := t.measure(ctx, NewTask, 1, save(id, http.StatusCreated, "pending")); err != nil {
		return err
	}
	return t.measure(ctx, UpdateTask, 1, save(id, http.StatusOK, "completed"))
}
