package automation

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/notification"
)

// placeholder is a name in double braces. Templates contain nothing else: no
// conditions, and no content of the session.
var placeholder = regexp.MustCompile(`\{\{([^{}]*)\}\}`)

// values returns the values of placeholders for an event; "" if the event has none.
func values(e notification.Event) map[string]string {
	version := ""
	if e.Type == notification.ArtifactSaved {
		version = strconv.FormatInt(e.Version, 10)
	}
	return map[string]string{
		"type": string(e.Type), "event_id": e.ID, "time": time.UnixMilli(e.Time).UTC().Format(time.RFC3339),
		"session_id": e.SessionID, "agent": e.Agent, "run_id": e.RunID, "task_id": e.TaskID,
		"artifact": e.Artifact, "version": version, "feedback": e.Feedback, "error": e.Error,
		"source_session_id": e.Source, "rewind_before_invocation_id": e.Before,
	}
}

// Placeholders returns the valid names, sorted.
func Placeholders() []string { return slices.Sorted(maps.Keys(values(notification.Event{}))) }

// checkPlaceholders refuses unknown placeholders.
func checkPlaceholders(pointer, text string) error {
	known := values(notification.Event{})
	for _, found := range placeholder.FindAllStringSubmatch(text, -1) {
		if _, ok := known[strings.TrimSpace(found[1])]; !ok {
			return fault.Field(fault.Invalid, pointer, "has the placeholder %s; there are %s",
				found[0], strings.Join(Placeholders(), ", "))
		}
	}
	return nil
}

// Render returns the input with its placeholders replaced. Values are inserted as
// they are, without further replacement.
func (a Action) Render(e notification.Event) string {
	all := values(e)
	return placeholder.ReplaceAllStringFunc(a.Input, func(found string) string {
		return all[strings.TrimSpace(strings.Trim(found, "{}"))]
	})
}
