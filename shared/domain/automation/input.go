package automation

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/delivery"
)

// placeholder is a name in two pairs of braces. There is nothing else to a
// template: no conditions, and no words of the session.
var placeholder = regexp.MustCompile(`\{\{([^{}]*)\}\}`)

// values are what placeholders stand for: of an event without one, nothing.
func values(e delivery.Event) map[string]string {
	version := ""
	if e.Type == delivery.ArtifactSaved {
		version = strconv.FormatInt(e.Version, 10)
	}
	return map[string]string{
		"type": string(e.Type), "event_id": e.ID, "time": time.UnixMilli(e.Time).UTC().Format(time.RFC3339),
		"session_id": e.SessionID, "agent": e.Agent, "run_id": e.RunID, "task_id": e.TaskID,
		"artifact": e.Artifact, "version": version, "feedback": e.Feedback, "error": e.Error,
		"source_session_id": e.Source, "rewind_before_invocation_id": e.Before,
	}
}

// Placeholders are the names that an input may hold, in order.
func Placeholders() []string { return slices.Sorted(maps.Keys(values(delivery.Event{}))) }

// checkPlaceholders says which placeholder of a text is none.
func checkPlaceholders(pointer, text string) error {
	known := values(delivery.Event{})
	for _, found := range placeholder.FindAllStringSubmatch(text, -1) {
		if _, ok := known[strings.TrimSpace(found[1])]; !ok {
			return fault.Field(fault.Invalid, pointer, "has the placeholder %s; there are %s",
				found[0], strings.Join(Placeholders(), ", "))
		}
	}
	return nil
}

// Render is the input with what its placeholders stand for. What is put in is
// not looked at again.
func (a Action) Render(e delivery.Event) string {
	all := values(e)
	return placeholder.ReplaceAllStringFunc(a.Input, func(found string) string {
		return all[strings.TrimSpace(strings.Trim(found, "{}"))]
	})
}
