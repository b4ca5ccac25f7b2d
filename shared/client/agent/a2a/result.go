package a2a

import (
	"encoding/json"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
)

// parseResult reads a result of either version. A task that was asked for comes
// without a wrapper in both.
func parseResult(raw json.RawMessage) (result, error) {
	var r result
	var kind struct {
		Kind string `json:"kind"`
		ID   string `json:"id"`
	}
	if !jsonx.IsObject(raw) || json.Unmarshal(raw, &kind) != nil {
		return r, errResult()
	}
	var into any = &r
	switch {
	case kind.Kind == "task", kind.Kind == "" && kind.ID != "":
		r.Task = &task{}
		into = r.Task
	case kind.Kind == "message":
		r.Message = &message{}
		into = r.Message
	case kind.Kind == "status-update":
		r.StatusUpdate = &update{}
		into = r.StatusUpdate
	case kind.Kind == "artifact-update":
		r.ArtifactUpdate = &update{}
		into = r.ArtifactUpdate
	}
	if json.Unmarshal(raw, into) != nil || !r.whole() {
		return r, errResult()
	}
	return r, nil
}

// whole reports whether the result has what its kind requires.
func (r result) whole() bool {
	switch {
	case r.Task != nil:
		return r.Task.ID != "" && r.Task.Status.State != ""
	case r.Message != nil:
		return true
	case r.StatusUpdate != nil:
		return r.StatusUpdate.Status != nil && r.StatusUpdate.Status.State != ""
	case r.ArtifactUpdate != nil:
		return r.ArtifactUpdate.Artifact != nil
	}
	return false
}

func errResult() error {
	return fault.New(fault.Malformed, "must be a task, a message, a status update or an artifact update")
}
