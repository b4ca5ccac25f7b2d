package adk

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"time"

	adk "google.golang.org/adk/v2/session"

	"github.com/rethread/rethread/clients/go/adk/internal/remote"
)

// firstVersion is the number of an artifact's first version in ADK for Go,
// where 0 stands for the newest. Here it is 0, as in ADK for Python.
const firstVersion = 1

// codec turns ADK's events into those of the log and back without loss. What
// it stores reads like any other event here: snake_case, contents of a role
// and parts, state and artifact deltas under the names that the store acts on.
type codec struct{ event *shape }

func newCodec() *codec {
	return &codec{event: shapeOf(reflect.TypeFor[adk.Event](), map[reflect.Type]*shape{})}
}

// encode makes the JSON of an event to append.
func (c *codec) encode(e *adk.Event) (json.RawMessage, error) {
	fail := func(err error) (json.RawMessage, error) {
		return nil, fmt.Errorf("encode: %w", err)
	}
	raw, err := json.Marshal(withoutTemporary(e))
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
	if raw, err = remote.Encode(stored); err != nil {
		return fail(err)
	}
	return raw, nil
}

// decode reads an event of the log, whoever appended it.
func (c *codec) decode(e remote.Event) (*adk.Event, error) {
	fail := func(err error) (*adk.Event, error) {
		return nil, fmt.Errorf("event %s at %d cannot be read as one of ADK: %w", e.ID, e.Seq, err)
	}
	tree, err := decodeTree(e.Raw)
	if err != nil {
		return fail(err)
	}
	known, _ := c.event.toCamel(tree).(map[string]any)
	if err := shiftVersions(known["actions"], "artifactDelta", firstVersion); err != nil {
		return fail(err)
	}
	at := time.UnixMilli(e.CreatedTime).UTC()
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

// shiftVersions adds to the versions of an artifact delta.
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

// integer reads a number without a fraction, however it is written: 3, 3.0 and
// 3e0 are the same one.
func integer(number json.Number) (int64, bool) {
	if n, err := number.Int64(); err == nil {
		return n, true
	}
	const largest = 1 << 53 // up to which a float64 is exact
	f, err := number.Float64()
	return int64(f), err == nil && f == math.Trunc(f) && math.Abs(f) < largest
}
