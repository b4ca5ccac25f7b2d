package adk

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"

	adk "google.golang.org/adk/v2/session"

	rethread "github.com/rethread/rethread/clients/go"
)

// firstVersion is the number of an artifact's first version in ADK for Go, where
// 0 means the newest. In the API the first version is 0, as in ADK for Python.
const firstVersion = 1

// codec converts ADK's events to events of the API and back without loss. A
// stored event has the form of any other: snake_case members, content with a role
// and parts, state_delta and artifact_delta where the server applies them.
type codec struct{ event *shape }

func newCodec() *codec {
	return &codec{event: shapeOf(reflect.TypeFor[adk.Event](), map[reflect.Type]*shape{})}
}

// encode returns an event to append.
func (c *codec) encode(e *adk.Event) (rethread.EventRequest, error) {
	fail := func(err error) (rethread.EventRequest, error) {
		return rethread.EventRequest{}, fmt.Errorf("encode: %w", err)
	}
	raw, err := marshal(withoutTemporary(e))
	if err != nil {
		return fail(err)
	}
	tree, err := decodeTree(raw)
	if err != nil {
		return fail(err)
	}
	stored, _ := c.event.toSnake(tree).(map[string]any)
	stored["timestamp"] = epochSeconds(e.Timestamp)
	if err := shiftVersions(stored["actions"], "artifact_delta", -firstVersion); err != nil {
		return fail(err)
	}
	if actions, ok := stored["actions"].(map[string]any); ok && len(actions) == 0 {
		delete(stored, "actions")
	}
	more, err := membersOf(stored)
	if err != nil {
		return fail(err)
	}
	for _, named := range []string{"id", "invocation_id", "author"} {
		delete(more, named)
	}
	return rethread.EventRequest{ID: e.ID, InvocationID: e.InvocationID, Author: e.Author, More: more}, nil
}

// membersOf returns the JSON of an object's members. It does not escape <, > and &, so
// that stored values are unchanged.
func membersOf(object map[string]any) (rethread.More, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(object); err != nil {
		return nil, err
	}
	var members rethread.More
	return members, json.Unmarshal(out.Bytes(), &members)
}

// decode converts an event of the log, which any client may have appended.
func (c *codec) decode(e storedEvent) (*adk.Event, error) {
	fail := func(err error) (*adk.Event, error) {
		return nil, fmt.Errorf("decode event %s at position %d as an ADK event: %w", e.ID, e.Seq, err)
	}
	tree, err := decodeTree(e.raw)
	if err != nil {
		return fail(err)
	}
	known, _ := c.event.toCamel(tree).(map[string]any)
	if err := shiftVersions(known["actions"], "artifactDelta", firstVersion); err != nil {
		return fail(err)
	}
	at := e.CreatedTime.Time()
	if number, ok := known["timestamp"].(json.Number); ok {
		if t, exact := parseSeconds(number); exact {
			at = t
			delete(known, "timestamp")
		}
	}
	raw, err := json.Marshal(known)
	if err != nil {
		return fail(err)
	}
	out := &adk.Event{Timestamp: at}
	if err := json.Unmarshal(raw, out); err != nil {
		return fail(err)
	}
	return out, nil
}

// shiftVersions adds by to each version of an artifact delta. It fails with
// ErrInvalid if a version becomes negative.
func shiftVersions(actions any, name string, by int64) error {
	members, _ := actions.(map[string]any)
	delta, _ := members[name].(map[string]any)
	for artifact, v := range delta {
		number, ok := v.(json.Number)
		if !ok {
			continue
		}
		version, ok := integer(number)
		if !ok || version+by < 0 {
			return fmt.Errorf("%w: artifact %q has no version %s: the first is %d", ErrInvalid, artifact, number, firstVersion)
		}
		delta[artifact] = version + by
	}
	return nil
}

// integer converts a number without a fraction in any notation: 3, 3.0 and 3e0
// are equal.
func integer(number json.Number) (int64, bool) {
	if n, err := number.Int64(); err == nil {
		return n, true
	}
	const largest = 1 << 53 // a float64 holds every integer below exactly
	f, err := number.Float64()
	return int64(f), err == nil && f == math.Trunc(f) && math.Abs(f) < largest
}
