// Package proxyv1 holds what API Gateway's REST APIs and WebSocket APIs have in
// common: the request members of payload format 1.0, and the Lambda authorizers
// that answer with an IAM policy.
package proxyv1

import (
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// TimeLayout is the format of times in request contexts.
const TimeLayout = "02/Jan/2006:15:04:05 -0700"

// Values are headers or query parameters, once with the last value of each name
// and once with all of them. Both are nil if there are none, which events encode
// as null.
type Values struct {
	Last map[string]string
	All  map[string][]string
}

// Headers returns the request's headers and those that API Gateway adds, with
// names spelled as a browser does in a handshake.
func Headers(r *http.Request) Values {
	all := map[string][]string{
		"Host": {r.Host}, "X-Forwarded-For": {Host(r.RemoteAddr)}, "X-Forwarded-Proto": {"http"},
		"X-Amzn-Trace-Id": {TraceID(time.Now())},
	}
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		all["X-Forwarded-Port"] = []string{port}
	}
	for name, values := range r.Header {
		all[strings.Replace(name, "Sec-Websocket-", "Sec-WebSocket-", 1)] = values // the spelling of browsers
	}
	return newValues(all)
}

// Lower returns the headers with names in lower case, as HTTP/2 clients send them;
// headers that API Gateway adds keep their spelling.
func (v Values) Lower() Values {
	all := make(map[string][]string, len(v.All))
	for name, values := range v.All {
		switch name {
		case "Host", "User-Agent", "X-Amzn-Trace-Id", "X-Forwarded-For", "X-Forwarded-Port", "X-Forwarded-Proto":
		default:
			name = strings.ToLower(name)
		}
		all[name] = values
	}
	return newValues(all)
}

// TraceID is the X-Ray header that API Gateway adds to requests.
func TraceID(now time.Time) string {
	var id [12]byte
	_, _ = rand.Read(id[:]) // never fails
	return fmt.Sprintf("Root=1-%08x-%x", now.Unix(), id)
}

// Query returns the decoded query parameters, without pairs that cannot be
// decoded.
func Query(r *http.Request) Values {
	values, _ := url.ParseQuery(r.URL.RawQuery) // returns the valid pairs
	return newValues(values)
}

func newValues(all map[string][]string) Values {
	if len(all) == 0 {
		return Values{}
	}
	last := make(map[string]string, len(all))
	for name, values := range all {
		last[name] = values[len(values)-1]
	}
	return Values{Last: last, All: all}
}

// Identity describes the caller, as far as the connection reveals it.
func Identity(r *http.Request) events.APIGatewayRequestIdentity {
	return events.APIGatewayRequestIdentity{SourceIP: Host(r.RemoteAddr), UserAgent: r.UserAgent()}
}

// Host returns an address without its port.
func Host(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}

// ARN identifies a route of an API in policies: the last part is "GET/path" for
// REST APIs and the route key for WebSocket APIs.
func ARN(region, account, api, stage, route string) string {
	return "arn:aws:execute-api:" + region + ":" + account + ":" + api + "/" + stage + "/" + route
}

// millis formats a duration as request contexts do.
func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
