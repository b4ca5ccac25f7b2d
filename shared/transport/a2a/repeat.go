package a2a

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	lib "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
)

// repeatReach is how far before the head the input of an earlier attempt is
// looked for: attempts that overlap are a few positions apart.
const repeatReach = session.DefaultPage / 2

// messageIDs are the ids that a message determines, so that a repeat of it finds
// what an earlier attempt began.
type messageIDs struct {
	task, run, context string
}

// messageIDs derives the ids from the caller, the agent, the context and the task
// that the message names, and the message's id and content: some clients use an
// id for several messages. Named ids stay.
func (h *handler) messageIDs(ctx context.Context, m *lib.Message) (messageIDs, error) {
	content, err := json.Marshal(m.Parts)
	if err != nil {
		return messageIDs{}, fmt.Errorf("read the parts of a message: %w", err)
	}
	derived := func(kind string) string {
		parts := []string{kind, access.CallerOf(ctx).UserID, h.agent, m.ContextID, string(m.TaskID), m.ID, string(content)}
		return uuid.NewSHA1(uuid.NameSpaceOID, []byte(strings.Join(parts, "\x00"))).String()
	}
	ids := messageIDs{task: string(m.TaskID), run: derived("run"), context: m.ContextID}
	if ids.task == "" {
		ids.task = ids.run
	}
	if ids.context == "" {
		ids.context = derived("context")
	}
	return ids, nil
}

// sentBefore returns the task that an earlier attempt to send the message began
// or continued; none if there was no such attempt.
func (h *handler) sentBefore(ctx context.Context, ids messageIDs) (task.Link, error) {
	link, err := h.link(ctx, lib.TaskID(ids.task), access.StartRun)
	switch {
	case errors.Is(err, lib.ErrTaskNotFound), errors.Is(err, fault.Of(fault.NotFound)):
		return task.Link{}, nil
	case err != nil:
		return task.Link{}, err
	case !slices.Contains(link.Runs, ids.run):
		return task.Link{}, nil
	}
	return link, nil
}
