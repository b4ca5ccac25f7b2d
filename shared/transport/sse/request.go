package sse

import (
	"net/http"
	"net/url"

	"github.com/aws/aws-lambda-go/events"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/client/tokens"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/transport/ws"
)

// lastEventID is the header in which a browser that lost a stream sends its
// position. It repeats the address, whose position is outdated by then.
const lastEventID = "Last-Event-Id"

// request is a caller's request for a stream.
type request struct {
	sessionID string
	caller    access.Caller
	from      watch.From
	// resumed reports that the caller had a stream before, which broke or
	// reached the end of its turn.
	resumed bool
}

// readRequest reads a request of a caller; its errors name parameters.
func readRequest(event events.APIGatewayProxyRequest, caller access.Caller) (request, error) {
	header := http.Header{}
	for name, values := range ws.AllValues(event.MultiValueHeaders, event.Headers) {
		name = http.CanonicalHeaderKey(name)
		header[name] = append(header[name], values...)
	}
	query := url.Values(ws.AllValues(event.MultiValueQueryStringParameters, event.QueryStringParameters))
	// REST APIs pass the path's parameters percent-encoded.
	id, err := url.PathUnescape(event.PathParameters["session_id"])
	if err != nil {
		return request{}, fault.Field(fault.Malformed, "session_id", "must be percent-encoded UTF-8")
	}
	req := request{sessionID: id, caller: caller}
	if err := ids.Check("session_id", req.sessionID); err != nil {
		return req, err
	}
	if req.caller.Token, err = tokens.Carried(header, query); err != nil {
		return req, fault.New(fault.Malformed, "the request must carry one token")
	}
	if last := header.Get(lastEventID); last != "" {
		req.resumed = true
		return req, req.setCursor(last, "Last-Event-ID")
	}
	return req, req.readPosition(query)
}

// readPosition reads the stream's beginning from the query.
func (r *request) readPosition(query url.Values) error {
	var given []string
	for _, name := range []string{"cursor", "last_item_id", "last_activity_id"} {
		for _, value := range query[name] {
			given = append(given, name)
			if err := r.set(name, value); err != nil {
				return err
			}
		}
	}
	if len(given) > 1 {
		return fault.Field(fault.Malformed, given[1], "must be absent beside %s", given[0])
	}
	return nil
}

func (r *request) set(name, value string) error {
	if name == "cursor" {
		return r.setCursor(value, name)
	}
	r.from.LastItemID = value
	return ids.Check(name, value)
}

func (r *request) setCursor(value, name string) error {
	cursor, err := watch.ParseCursor(value)
	if err != nil {
		return fault.Field(fault.InvalidCursor, name, "must be a cursor: epoch.seq.offset")
	}
	r.from.Cursor = &cursor
	return nil
}
