package bus

import (
	"encoding/json"
	"strings"
	"time"
)

// Limits of a PutEvents request, as EventBridge documents them.
const (
	maxEntries    = 10
	maxTotalBytes = 1 << 20
)

// Error codes of single entries.
const (
	codeInvalidArgument = "InvalidArgument"
	codeMalformedDetail = "MalformedDetail"
	codeNotAuthorized   = "NotAuthorizedForSource"
)

type request struct{ Entries []entry }

// entry is one event of a PutEvents request.
type entry struct {
	EventBusName string
	Source       string
	DetailType   string
	Detail       string
	Time         json.Number
	Resources    []string
}

type answer struct {
	FailedEntryCount int
	Entries          []result
}

type result struct {
	EventID      string `json:"EventId,omitempty"`
	ErrorCode    string `json:",omitempty"`
	ErrorMessage string `json:",omitempty"`
}

// check returns an error if the request must be refused as a whole.
func (in request) check() error {
	if n := len(in.Entries); n == 0 || n > maxEntries {
		return refuse(codeValidation, "1 validation error detected: Value at 'entries' failed to satisfy constraint: "+
			"Member must have length between 1 and %d, inclusive", maxEntries)
	}
	total := 0
	for _, e := range in.Entries {
		total += e.size()
	}
	if total > maxTotalBytes {
		return refuse(codeValidation, "Total size of the entries in the request is over the limit.")
	}
	return nil
}

// size is computed as EventBridge does: 14 bytes for a time, plus the bytes of
// each string.
func (e entry) size() int {
	n := len(e.Source) + len(e.DetailType) + len(e.Detail)
	if e.Time != "" {
		n += 14
	}
	for _, r := range e.Resources {
		n += len(r)
	}
	return n
}

// check returns a result with an error code, in the service's words, if the entry
// is invalid.
func (e entry) check() result {
	var detail map[string]any
	_, badTime := readTime(e.Time)
	switch {
	case e.Source == "":
		return result{ErrorCode: codeInvalidArgument, ErrorMessage: "Parameter Source is not valid. Reason: Source is a required argument."}
	case strings.HasPrefix(e.Source, "aws."):
		return result{ErrorCode: codeNotAuthorized, ErrorMessage: "Not authorized for the source."}
	case e.DetailType == "":
		return result{ErrorCode: codeInvalidArgument, ErrorMessage: "Parameter DetailType is not valid. Reason: DetailType is a required argument."}
	case e.Detail == "":
		return result{ErrorCode: codeInvalidArgument, ErrorMessage: "Parameter Detail is not valid. Reason: Detail is a required argument."}
	case json.Unmarshal([]byte(e.Detail), &detail) != nil:
		return result{ErrorCode: codeMalformedDetail, ErrorMessage: "Detail is malformed."}
	case e.Time != "" && badTime != nil:
		return result{ErrorCode: codeInvalidArgument, ErrorMessage: "Parameter Time is not valid."}
	}
	return result{}
}

// event returns the event to keep.
func (e entry) event(id string, now time.Time) Event {
	name := e.EventBusName
	if name == "" {
		name = "default"
	}
	when, err := readTime(e.Time)
	if err != nil { // the entry has no time
		when = now.UTC()
	}
	return Event{
		ID: id, Bus: name, Source: e.Source, DetailType: e.DetailType, Detail: json.RawMessage(e.Detail), Time: when,
	}
}
