package provider

import (
	"bytes"
	"encoding/json"

	"github.com/rethread/rethread/shared/base/jsonx"
)

// Arguments is the JSON text of a call's arguments, or a piece of it. Some servers that
// call themselves compatible send the object itself.
type Arguments string

// UnmarshalJSON implements json.Unmarshaler.
func (a *Arguments) UnmarshalJSON(raw []byte) error {
	if !jsonx.IsObject(raw) {
		var text string // null is none
		err := json.Unmarshal(raw, &text)
		*a = Arguments(text)
		return err
	}
	var text bytes.Buffer
	err := json.Compact(&text, raw)
	*a = Arguments(text.String())
	return err
}
