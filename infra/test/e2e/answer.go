package e2e

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/test/e2e/pick"
)

// Answer is a response that was read completely.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	call   string
	tb     testing.TB
}

// Want ends the test unless the answer has one of the statuses.
func (a *Answer) Want(statuses ...int) *Answer {
	a.tb.Helper()
	for _, s := range statuses {
		if a.Status == s {
			return a
		}
	}
	a.tb.Fatalf("%s: status %d, want %v\n%.2000s", a.call, a.Status, statuses, a.Body)
	return a
}

// Raw returns the JSON at a path such as data.0.id, without white space.
func (a *Answer) Raw(path string) string {
	a.tb.Helper()
	raw, err := pick.Raw(a.Body, path)
	if err != nil {
		a.tb.Fatalf("%s: %v", a.call, err)
	}
	return string(raw)
}

// Str returns the string at a path.
func (a *Answer) Str(path string) string {
	a.tb.Helper()
	s, err := pick.Text(a.Body, path)
	if err != nil {
		a.tb.Fatalf("%s: %v", a.call, err)
	}
	return s
}

// Int returns the integer at a path.
func (a *Answer) Int(path string) int64 {
	a.tb.Helper()
	n, err := strconv.ParseInt(a.Raw(path), 10, 64)
	if err != nil {
		a.tb.Fatalf("%s: %s: %v", a.call, path, err)
	}
	return n
}

// List holds the elements of the array at a path.
func (a *Answer) List(path string) []json.RawMessage {
	a.tb.Helper()
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(a.Raw(path)), &list); err != nil {
		a.tb.Fatalf("%s: %s: %v", a.call, path, err)
	}
	return list
}

// Each takes the text at a path out of every element of an array.
func (a *Answer) Each(list, path string) []string {
	a.tb.Helper()
	out := []string{}
	for _, element := range a.List(list) {
		text, err := pick.Text(element, path)
		if err != nil {
			a.tb.Fatalf("%s: %v", a.call, err)
		}
		out = append(out, text)
	}
	return out
}

// Next is the path and query of the next page, from the Link header; empty on
// the last page.
func (a *Answer) Next() string {
	a.tb.Helper()
	link := a.Header.Get("Link")
	if link == "" {
		return ""
	}
	target, rest, ok := strings.Cut(strings.TrimPrefix(link, "<"), ">")
	if !ok || !strings.Contains(rest, `rel="next"`) {
		a.tb.Fatalf("%s: a Link header without a target: %s", a.call, link)
	}
	if _, path, ok := strings.Cut(target, "/api/"); ok {
		target = "/api/" + path
	}
	return target
}
