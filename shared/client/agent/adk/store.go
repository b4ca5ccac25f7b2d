package adk

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/output"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/ids"
)

// store stores a whole event, which completes the item in progress if there is one.
func (r *reader) store(o *streamEvent) error {
	if o.empty() {
		return nil
	}
	for _, id := range o.LongRunning {
		r.waiting[id] = true
	}
	for _, p := range o.Content.Parts {
		if p.Response != nil {
			delete(r.waiting, p.Response.ID)
		}
	}
	id := o.ID
	if r.speaker != nil || !r.usable(id) {
		id = "" // the item's, or the store's
	}
	r.speaker, r.last = nil, o.ID
	raw, err := o.event(id, r.session)
	if err != nil {
		return err
	}
	if err := r.out.Event(raw); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(o.Actions.Artifacts)) {
		if err := r.keep(o, name, o.Actions.Artifacts[name]); err != nil {
			return err
		}
	}
	return nil
}

// usable reports whether an event of ADK's can have its id here, too.
func (r *reader) usable(id string) bool { return id != r.last && ids.CheckNew("", id) == nil }

// keep stores an artifact as an event with its content.
func (r *reader) keep(o *streamEvent, name string, version json.Number) error {
	text, err := r.artifact(name, version.String())
	if err != nil && !errors.Is(err, errNotFound) {
		return err
	}
	var part content.Part
	if raw := content.SnakeCase(text); jsonx.CheckInner(raw) == nil && len(raw) <= output.MaxEvent/2 {
		part = content.ParsePart(raw)
	}
	event, err := jsonx.Marshal(map[string]any{
		"author": o.Author, "content": content.Content{Role: "model", Parts: []content.Part{artifactPart(part, name, version)}},
		recordMember: record{Artifact: &artifact{Name: name, Version: version}},
	})
	if err != nil {
		return err
	}
	return r.out.Event(event)
}
