package responsesconvert

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/run"
)

// Codes of faults, as OpenAI's API has them.
const (
	CodeUnknownParameter = "unknown_parameter"
	CodeUnsupported      = "unsupported_parameter"
)

// Divergence says what a request does whose previous response is not its session's
// newest.
type Divergence string

// The strategies for a session that has gone on.
const (
	Fork   Divergence = "fork"
	Rewind Divergence = "rewind"
	Refuse Divergence = "reject"
)

// Request is the body that creates a response.
type Request struct {
	Model        string // the agent's name
	Input        []Given
	Previous     string // id of a response, "" for none
	Conversation string // id of a session, "" for none
	Stream       bool
	Background   bool
	OnActive     run.OnActive
	OnDivergence Divergence
	// Offer is what the agent may use besides the messages.
	Offer run.FrontEnd
	// Shown is the members of the response that repeat the request.
	Shown map[string]json.RawMessage
}

// ParseRequest parses the body of a request for an agent that obeys these parameters.
// obeys returns an error if there is no such agent. Errors are faults that name the
// member.
func ParseRequest(
	ctx context.Context, body []byte, obeys func(ctx context.Context, agent string) (map[string]bool, error),
) (r Request, err error) {
	o, err := jsonx.ParseBody(body)
	if err != nil {
		return r, err
	}
	DropNulls(o)
	if r.Model, err = o.RequiredText("model"); err != nil {
		return r, err
	}
	obeyed, err := obeys(ctx, r.Model)
	if err != nil {
		return r, err
	}
	r.Shown = map[string]json.RawMessage{}
	if err = r.takeTarget(o); err != nil {
		return r, err
	}
	if err = r.takeParameters(o, obeyed); err != nil {
		return r, err
	}
	if r.Input, err = parseInput(o, "input"); err != nil {
		return r, err
	}
	if i := slices.IndexFunc(r.Input, Given.instructs); i >= 0 && !obeyed["instructions"] {
		return r, unsupported(r.Input[i].at, "is not obeyed by this agent: it reads no system messages")
	}
	return r, nil
}

// DropNulls removes members that are null, which the specification allows for all.
func DropNulls(o jsonx.Object) {
	maps.DeleteFunc(o.Members, func(_ string, raw json.RawMessage) bool { return jsonx.IsNull(raw) })
}

// takeTarget reads what the response belongs to, and how it is sent.
func (r *Request) takeTarget(o jsonx.Object) (err error) {
	if r.Previous, err = o.Text("previous_response_id"); err != nil {
		return err
	}
	if r.Conversation, err = conversationOf(o); err != nil {
		return err
	}
	if r.Previous != "" && r.Conversation != "" {
		return fault.Field(fault.Invalid, "/previous_response_id", "cannot be used together with conversation")
	}
	if r.Stream, err = o.Boolean("stream"); err != nil {
		return err
	}
	if r.Background, err = o.Boolean("background"); err != nil {
		return err
	}
	r.Shown["background"] = json.RawMessage(strconv.FormatBool(r.Background))
	if r.Previous != "" {
		r.Shown["previous_response_id"] = o.Members["previous_response_id"]
	}
	if err := r.takeMetadata(o); err != nil {
		return err
	}
	own, err := o.Object("rethread")
	if err != nil {
		return err
	}
	active, err := own.Choice("on_active", string(run.Reject), string(run.CancelAndMerge), string(run.Enqueue))
	if err != nil {
		return err
	}
	diverges, err := own.Choice("on_divergence", string(Fork), string(Rewind), string(Refuse))
	r.OnActive, r.OnDivergence = run.OnActive(active), Divergence(diverges)
	return err
}

// conversationOf reads the id of a conversation, which may be an object with the id.
func conversationOf(o jsonx.Object) (id string, err error) {
	switch raw := o.Members["conversation"]; {
	case jsonx.IsObject(raw):
		of, err := o.Object("conversation")
		if err != nil {
			return "", err
		}
		id, err = of.RequiredText("id")
		if err != nil {
			return "", err
		}
	default:
		if id, err = o.Text("conversation"); err != nil || !o.Has("conversation") {
			return "", err
		}
	}
	return id, ids.Check("/conversation", id)
}

// Limits of metadata.
const (
	maxMetadata      = 16
	maxMetadataKey   = 64  // characters
	maxMetadataValue = 512 // characters
)

func (r *Request) takeMetadata(o jsonx.Object) error {
	metadata, err := ParseMetadata(o)
	if err == nil && o.Has("metadata") {
		r.Shown["metadata"] = metadata
	}
	return err
}

// ParseMetadata reads the member metadata, {} if it is absent.
func ParseMetadata(o jsonx.Object) (json.RawMessage, error) {
	values := map[string]string{}
	if err := o.Take("metadata", &values, "an object with texts"); err != nil {
		return nil, err
	}
	if len(values) > maxMetadata {
		return nil, fault.Field(fault.Invalid, "/metadata", "must have at most %d keys", maxMetadata)
	}
	for key, value := range values {
		if utf8.RuneCountInString(key) > maxMetadataKey || utf8.RuneCountInString(value) > maxMetadataValue {
			return nil, fault.Field(fault.Invalid, "/metadata/"+jsonx.EscapePointer(key),
				"must have at most %d characters, and %d in its name", maxMetadataValue, maxMetadataKey)
		}
	}
	return jsonx.Marshal(values)
}

// unsupported returns the fault for a parameter that cannot be obeyed.
func unsupported(at, format string, args ...any) error {
	return fault.Field(fault.Invalid, at, format, args...).With("code", CodeUnsupported)
}

// ParseItems reads items that are added to a conversation, of which all are history.
func ParseItems(o jsonx.Object, most int) ([]Given, error) {
	raws, err := o.Array("items")
	if err != nil {
		return nil, err
	}
	if len(raws) > most {
		return nil, fault.Field(fault.Invalid, "/items", "must have at most %d items", most)
	}
	return parseItems(raws, "/items")
}

// Param returns a JSON pointer as the name of a parameter in OpenAI's form, such as
// tools[0].name.
func Param(pointer string) string {
	var out strings.Builder
	for i, step := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch _, err := strconv.Atoi(step); {
		case err == nil && i > 0:
			out.WriteString("[" + step + "]")
		case i > 0:
			out.WriteString("." + step)
		default:
			out.WriteString(step)
		}
	}
	return out.String()
}
