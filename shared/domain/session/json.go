package session

import (
	"encoding/json"

	"github.com/rethread/rethread/shared/base/jsonx"
)

// IsNull is jsonx.IsNull.
func IsNull(raw json.RawMessage) bool { return jsonx.IsNull(raw) }

// Integer is jsonx.Integer.
func Integer(raw json.RawMessage) (int64, bool) { return jsonx.Integer(raw) }

// EscapePointer is jsonx.EscapePointer.
func EscapePointer(token string) string { return jsonx.EscapePointer(token) }
