// Package responsesconvert translates between events of sessions and the requests, the items,
// the responses and the streams of Open Responses, version 2026-04-24, and of what
// OpenAI's Responses API has beyond that. It does no input or output.
package responsesconvert
