package a2a

import (
	"context"

	lib "github.com/a2aproject/a2a-go/v2/a2a"
)

// Push notifications are not offered, as the agent cards say.

// GetTaskPushConfig implements a2asrv.RequestHandler.
func (h *handler) GetTaskPushConfig(context.Context, *lib.GetTaskPushConfigRequest) (*lib.PushConfig, error) {
	return nil, lib.ErrPushNotificationNotSupported
}

// ListTaskPushConfigs implements a2asrv.RequestHandler.
func (h *handler) ListTaskPushConfigs(
	context.Context, *lib.ListTaskPushConfigRequest,
) (*lib.ListTaskPushConfigResponse, error) {
	return nil, lib.ErrPushNotificationNotSupported
}

// CreateTaskPushConfig implements a2asrv.RequestHandler.
func (h *handler) CreateTaskPushConfig(context.Context, *lib.PushConfig) (*lib.PushConfig, error) {
	return nil, lib.ErrPushNotificationNotSupported
}

// DeleteTaskPushConfig implements a2asrv.RequestHandler.
func (h *handler) DeleteTaskPushConfig(context.Context, *lib.DeleteTaskPushConfigRequest) error {
	return lib.ErrPushNotificationNotSupported
}
