package search

import (
	"encoding/json"
	"strings"

	"github.com/rethread/rethread/shared/domain/content"
)

// Text returns what an event says: the texts of its content's parts, without thoughts.
// Parts of another form have none.
func Text(raw json.RawMessage) string {
	c, _ := content.Parse(raw)
	var texts []string
	for _, p := range c.Parts {
		if p.Text != nil && *p.Text != "" && !p.Thought {
			texts = append(texts, *p.Text)
		}
	}
	return strings.Join(texts, "\n")
}
