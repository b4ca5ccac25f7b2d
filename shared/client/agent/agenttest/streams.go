package agenttest

import (
	"fmt"
	"strings"
)

// Chunks returns a stream of events without types.
func Chunks(data ...string) string {
	var out strings.Builder
	for _, d := range data {
		fmt.Fprintf(&out, "data: %s\n\n", d)
	}
	return out.String()
}

// Begun is the beginning of every completion's log.
const Begun = "item  helper model"

// CompletedAs returns the log of a completed item: the parts of its content, and its
// other members after a comma.
func CompletedAs(content, rest string) string {
	return `completed {"id":"","invocation_id":"run-1","author":"helper","content":{"role":"model","parts":[` + content + `]}` + rest + `}`
}

// CompletedWith is CompletedAs with a record of the provider's own members.
func CompletedWith(record, content, rest string) string {
	return strings.Replace(CompletedAs(content, rest), `,"content":`, `,"chat_completions":`+record+`,"content":`, 1)
}

// Said returns an event with the parts of a content.
func Said(author, role, parts string) string {
	return fmt.Sprintf(`{"invocation_id":"i","author":%q,"content":{"role":%q,"parts":[%s]}}`, author, role, parts)
}

// SSE returns a stream of events: a type, a space and the data.
func SSE(events ...string) string {
	var out strings.Builder
	for _, e := range events {
		kind, data, _ := strings.Cut(e, " ")
		fmt.Fprintf(&out, "event: %s\ndata: %s\n\n", kind, data)
	}
	return out.String()
}

// ShortAnswer is the stream of an agent that says "ab".
const ShortAnswer = "event: delta\ndata: {\"part\":0,\"text\":\"ab\"}\n\nevent: done\ndata: {}\n\n"
