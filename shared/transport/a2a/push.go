package a2a

import (
	"context"
	"slices"
	"time"

	lib "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/push"
	"github.com/rethread/rethread/shared/domain/task"
)

// maxConfigPage is more configurations than a task has.
const maxConfigPage = 100

// CreateTaskPushConfig implements a2asrv.RequestHandler. One with an id that is
// there is replaced; without an id, the address makes one, so that a request
// that is sent again adds nothing. A task that is over takes one too: it counts
// should the task go on, and nothing that was before is told.
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
	return shownConfig(link.TaskID, config), nil
}

// GetTaskPushConfig implements a2asrv.RequestHandler. Version 0.3 may leave the
// id out, for a task that has but one.
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
	i := slices.IndexFunc(configs, func(c push.Config) bool { return req.ID == "" || c.ID == req.ID })
	if i < 0 {
		return nil, lib.NewError(lib.ErrTaskNotFound, "the task has no such push notification configuration")
	}
	return shownConfig(link.TaskID, configs[i]), nil
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
		if c.ID <= req.PageToken { // that of the page before: its last id
			continue
		}
		if n := len(out.Configs); n == size {
			out.NextPageToken = out.Configs[n-1].ID
			break
		}
		out.Configs = append(out.Configs, shownConfig(link.TaskID, c))
	}
	return out, nil
}

// DeleteTaskPushConfig implements a2asrv.RequestHandler. It may be repeated.
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

func pushTask(l task.Link) push.Task {
	return push.Task{UserID: l.UserID, SessionID: l.SessionID, ID: l.TaskID}
}

// pushConfig is a configuration as it is kept, if it may be; the zero time lets
// it tell all.
func (h *handler) pushConfig(
	ctx context.Context, taskID string, req *lib.PushConfig, since time.Time,
) (push.Config, error) {
	c := push.Config{ID: req.ID, URL: req.URL, Token: req.Token, Version: versionOf(ctx)}
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
		return c, lib.NewError(lib.ErrInvalidParams, "url: "+err.Error())
	}
	return c, nil
}

// shownConfig is a configuration as it is answered: the protocol leaves
// credentials out.
func shownConfig(taskID string, c push.Config) *lib.PushConfig {
	out := &lib.PushConfig{TaskID: lib.TaskID(taskID), ID: c.ID, URL: c.URL, Token: c.Token}
	if c.Scheme != "" {
		out.Auth = &lib.PushAuthInfo{Scheme: c.Scheme}
	}
	return out
}

// expectPush sees to it, before a run of a task begins, that the task's client
// will be told of it, as it was asked for with the message. What it returns
// takes that back where there will be no run.
func (h *handler) expectPush(
	ctx context.Context, link task.Link, runID string, req *lib.SendMessageRequest,
) (undo func(), err error) {
	undo = func() {}
	if h.Push == nil { // checkSend has refused who asked for it
		return undo, nil
	}
	asked := req.Config != nil && req.Config.PushConfig != nil
	if asked && link.UserID != callerOf(ctx).user { // a guest's right may end, and what others are told of would not
		return undo, refusedGuest("have others notified of it")
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
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
		defer cancel()
		if err := h.Push.DeleteConfig(ctx, pushTask(link), config.ID); err != nil {
			h.Log.WarnContext(ctx, "a push configuration without a task stays until its session goes", "error", err)
		}
	}, nil
}

// checkPush says what is wrong with the configuration that comes with a message.
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

// withVersion puts into a context the protocol version that a call is made in.
func withVersion(ctx context.Context, version string) context.Context {
	return context.WithValue(ctx, versionKey{}, version)
}

func versionOf(ctx context.Context) string {
	if v, ok := ctx.Value(versionKey{}).(string); ok {
		return v
	}
	return current
}
