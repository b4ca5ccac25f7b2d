package search

import (
	"encoding/json"
	"strings"
)

// Text returns what an event says: the texts of its content's parts, without thoughts.
// Parts of another form have none.
func Text(content json.RawMessage) string {
	var of struct {
		Parts []map[string]json.RawMessage `json:"parts"`
	}
	if len(content) == 0 || json.Unmarshal(content, &of) != nil {
		return ""
	}
	var texts []string
	for _, part := range of.Parts {
		var text string
		if string(part["thought"]) == "true" || json.Unmarshal(part["text"], &text) != nil || text == "" {
			continue
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n")
}
