// Package proxyv1 holds what REST APIs and WebSocket APIs have in common at API
// Gateway: how a request reads in payload format 1.0, and the Lambda authorizers
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

// TimeLayout is how request contexts write times.
const TimeLayout = "02/Jan/2006:15:04:05 -0700"

// Values are headers or query parameters, once with each name's last value and
// once with all of them. Both are nil when there are none, which events write as
// null.
type Values struct {
	Last map[string]string
	All  map[string][]string
}

// Headers returns the request's headers, with those that API Gateway adds, as a
// browser writes their names in a handshake.
func Headers(r *http.Request) Values {
	all := map[string][]string{
		"Host": {r.Host}, "X-Forwarded-For": {Host(r.RemoteAddr)}, "X-Forwarded-Proto": {"http"},
		"X-Amzn-Trace-Id": {TraceID(time.Now())},
	}
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		all["X-Forwarded-Port"] = []string{port}
	}
	for name, values := range r.Header {
		all[strings.Replace(name, "Sec-Websocket-", "Sec-WebSocket-", 1)] = values // as browsers write it
	}
	return newValues(all)
}

// Lower returns the headers with names in lower case, as callers over HTTP/2 send
// them; those that API Gateway adds stay as it writes them.
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

// TraceID is what API Gateway adds to requests for X-Ray.
func TraceID(now time.Time) string {
	var id [12]byte
	_, _ = rand.Read(id[:]) // never fails
	return fmt.Sprintf("Root=1-%08x-%x", now.Unix(), id)
}

// Query returns the decoded query parameters; pairs that cannot be decoded are
// left out.
func Query(r *http.Request) Values {
	values, _ := url.ParseQuery(r.URL.RawQuery) // returns what it could read
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

// Identity says who calls, as far as the connection tells.
func Identity(r *http.Request) events.APIGatewayRequestIdentity {
	return events.APIGatewayRequestIdentity{SourceIP: Host(r.RemoteAddr), UserAgent: r.UserAgent()}
}

// Host is an address without its port.
func Host(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}

// ARN names a route of an API to those who write policies: the last part is
// "GET/path" for REST APIs and the route key for WebSocket APIs.
func ARN(region, account, api, stage, route string) string {
	return "arn:aws:execute-api:" + region + ":" + account + ":" + api + "/" + stage + "/" + route
}

// millis writes a duration the way contexts do.
func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
