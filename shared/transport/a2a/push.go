package a2a

import (
	"context"
	"slices"
	"time"

	lib "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/domain/task"
)

// maxConfigPage is above the number of configurations that a task can have.
const maxConfigPage = 100

// CreateTaskPushConfig implements a2asrv.RequestHandler. It replaces a
// configuration with the same id; without an id, the URL determines it, so a
// repeated request adds nothing. On a task that is over, the configuration
// applies if the task is continued; earlier events are not sent.
func (h *handler) CreateTaskPushConfig(ctx context.Context, req *lib.PushConfig) (*lib.PushConfig, error) {
	link, err := h.pushLink(ctx, req.TaskID)
	if err != nil {
		return nil, err
	}
	config, err := h.pushConfig(ctx, link.TaskID, req, h.Now())
	if err != nil {
		return nil, err
	}
	if err := h.Push.PutConfig(ctx, pushTask(link), config); err != nil {
		return nil, err
	}
	return publicConfig(link.TaskID, config), nil
}

// GetTaskPushConfig implements a2asrv.RequestHandler. In version 0.3 the id may
// be absent if the task has only one configuration.
func (h *handler) GetTaskPushConfig(ctx context.Context, req *lib.GetTaskPushConfigRequest) (*lib.PushConfig, error) {
	link, err := h.pushLink(ctx, req.TaskID)
	if err != nil {
		return nil, err
	}
	if req.ID == "" && versionOf(ctx) != legacy {
		return nil, lib.NewError(lib.ErrInvalidParams, "id is required")
	}
	configs, err := h.Push.Configs(ctx, pushTask(link))
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(configs, func(c receiver.PushConfig) bool { return req.ID == "" || c.ID == req.ID })
	if i < 0 {
		return nil, lib.NewError(lib.ErrTaskNotFound, "the task has no such push notification configuration")
	}
	return publicConfig(link.TaskID, configs[i]), nil
}

// ListTaskPushConfigs implements a2asrv.RequestHandler.
func (h *handler) ListTaskPushConfigs(
	ctx context.Context, req *lib.ListTaskPushConfigRequest,
) (*lib.ListTaskPushConfigResponse, error) {
	link, err := h.pushLink(ctx, req.TaskID)
	if err != nil {
		return nil, err
	}
	size := req.PageSize
	switch {
	case size == 0:
		size = maxConfigPage
	case size < 0 || size > maxConfigPage:
		return nil, lib.NewError(lib.ErrInvalidParams, "pageSize must be 1 to 100")
	}
	configs, err := h.Push.Configs(ctx, pushTask(link))
	if err != nil {
		return nil, err
	}
	out := &lib.ListTaskPushConfigResponse{Configs: []*lib.PushConfig{}}
	for _, c := range configs {
		if c.ID <= req.PageToken { // the last id of the page before
			continue
		}
		if n := len(out.Configs); n == size {
			out.NextPageToken = out.Configs[n-1].ID
			break
		}
		out.Configs = append(out.Configs, publicConfig(link.TaskID, c))
	}
	return out, nil
}

// DeleteTaskPushConfig implements a2asrv.RequestHandler. It is idempotent.
func (h *handler) DeleteTaskPushConfig(ctx context.Context, req *lib.DeleteTaskPushConfigRequest) error {
	link, err := h.pushLink(ctx, req.TaskID)
	if err != nil {
		return err
	}
	if req.ID == "" {
		return lib.NewError(lib.ErrInvalidParams, "id is required")
	}
	return h.Push.DeleteConfig(ctx, pushTask(link), req.ID)
}

// pushLink finds the task of a request about push notifications.
func (h *handler) pushLink(ctx context.Context, id lib.TaskID) (task.Link, error) {
	if h.Push == nil {
		return task.Link{}, lib.ErrPushNotificationNotSupported
	}
	return h.link(ctx, id, access.Notify)
}

func pushTask(l task.Link) receiver.PushTask {
	return receiver.PushTask{UserID: l.UserID, SessionID: l.SessionID, ID: l.TaskID}
}

// pushConfig validates a configuration and returns it in its stored form; with
// a zero since it includes all events.
func (h *handler) pushConfig(
	ctx context.Context, taskID string, req *lib.PushConfig, since time.Time,
) (receiver.PushConfig, error) {
	c := receiver.PushConfig{ID: req.ID, URL: req.URL, Token: req.Token, Version: versionOf(ctx)}
	if !since.IsZero() {
		c.Since = since.UnixMilli()
	}
	if req.Auth != nil {
		c.Scheme, c.Credentials = req.Auth.Scheme, req.Auth.Credentials
	}
	if c.ID == "" {
		c.ID = uuid.NewSHA1(uuid.NameSpaceURL, []byte(taskID+" "+c.URL)).String()
	}
	if err := c.Validate(); err != nil {
		return c, err
	}
	if err := h.CheckURL(c.URL); err != nil {
		return c, fault.Field(fault.Invalid, "url", "cannot be called: %v", err)
	}
	return c, nil
}

// publicConfig returns a configuration as it is answered: without credentials,
// as the protocol requires.
func publicConfig(taskID string, c receiver.PushConfig) *lib.PushConfig {
	out := &lib.PushConfig{TaskID: lib.TaskID(taskID), ID: c.ID, URL: c.URL, Token: c.Token}
	if c.Scheme != "" {
		out.Auth = &lib.PushAuthInfo{Scheme: c.Scheme}
	}
	return out
}

// preparePush stores the push configuration of a message before the task's run
// begins, so that the client is notified of the whole run. undo deletes it if
// the run does not start.
func (h *handler) preparePush(
	ctx context.Context, link task.Link, runID string, req *lib.SendMessageRequest,
) (undo func(), err error) {
	undo = func() {}
	if h.Push == nil { // checkSend has refused requests for it
		return undo, nil
	}
	asked := req.Config != nil && req.Config.PushConfig != nil
	if asked && link.UserID != access.CallerOf(ctx).UserID { // a guest's permission may end, notifications would not
		return undo, errOwnerOnly("have others notified of it")
	}
	since := time.Time{}
	if runID != link.TaskID {
		since = h.Now()
		if err := h.Push.ContinueTask(ctx, pushTask(link), runID); err != nil {
			return undo, err
		}
	}
	if !asked {
		return undo, nil
	}
	config, err := h.pushConfig(ctx, link.TaskID, req.Config.PushConfig, since)
	if err != nil {
		return undo, err
	}
	if err := h.Push.PutConfig(ctx, pushTask(link), config); err != nil || runID != link.TaskID {
		return undo, err
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
		defer cancel()
		if err := h.Push.DeleteConfig(ctx, pushTask(link), config.ID); err != nil {
			h.Log.WarnContext(ctx, "a push configuration without a task was not deleted; it remains until its session is deleted", "error", err)
		}
	}, nil
}

// checkPush validates the configuration sent with a message.
func (h *handler) checkPush(ctx context.Context, config *lib.PushConfig) error {
	switch {
	case config == nil:
		return nil
	case h.Push == nil:
		return lib.ErrPushNotificationNotSupported
	}
	_, err := h.pushConfig(ctx, "", config, time.Time{})
	return err
}

type versionKey struct{}

// withVersion adds the protocol version of a call to its context.
func withVersion(ctx context.Context, version string) context.Context {
	return context.WithValue(ctx, versionKey{}, version)
}

func versionOf(ctx context.Context) string {
	if v, ok := ctx.Value(versionKey{}).(string); ok {
		return v
	}
	return current
}
