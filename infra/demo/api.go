package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/e2e/host"
	"github.com/rethread/rethread/infra/test/e2e/pick"
	"github.com/rethread/rethread/shared/base/jsonx"
)

type object = map[string]any

var errUnexpected = errors.New("unexpected answer of the API")

// user is a user of the API. After the first error, which ends the story, no
// more requests are sent.
type user struct {
	*printer
	ctx              context.Context //nolint:containedctx // of the whole story
	name, url, token string
}

func (s *story) login(ctx context.Context, url, name string) *user {
	const unique = 8 // characters of an id
	name += "-" + uuid.NewString()[:unique]
	token, err := host.Token(ctx, url, name)
	s.fail(err)
	return &user{printer: s.printer, ctx: ctx, name: name, url: url + "/api/v1", token: token}
}

func (p *user) get(path string) answer { return p.call(http.StatusOK, http.MethodGet, path, nil) }

func (p *user) post(want int, path string, body any) answer {
	return p.call(want, http.MethodPost, path, body)
}

// call makes a request and requires the status.
func (p *user) call(want int, method, path string, body any) answer {
	a := answer{printer: p.printer, of: method + " " + path}
	if p.err != nil {
		return a
	}
	var status int
	var err error
	if a.body, status, err = p.send(method, path, body); err == nil && status != want {
		err = fmt.Errorf("%w: status %d, want %d\n%s", errUnexpected, status, want, a.body)
	}
	a.check(err)
	return a
}

func (p *user) send(method, path string, body any) ([]byte, int, error) {
	payload, err := json.Marshal(body)
	if err != nil {
		return nil, 0, err
	}
	if body == nil {
		payload = nil
	}
	req, err := http.NewRequestWithContext(p.ctx, method, p.url+path, bytes.NewReader(payload))
	if err != nil {
		return nil, 0, err
	}
	req.Header.Set("Authorization", "Bearer "+p.token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	got, err := io.ReadAll(res.Body)
	return got, res.StatusCode, err
}

// answer is the answer to a request.
type answer struct {
	*printer
	of   string
	body []byte
}

func (a answer) check(err error) {
	if err != nil {
		a.fail(fmt.Errorf("%s: %w", a.of, err))
	}
}

// text returns the value at a path; a string without its quotes.
func (a answer) text(path string) string {
	if a.err != nil {
		return ""
	}
	text, err := pick.Text(a.body, path)
	a.check(err)
	return text
}

// wantValue requires the value at a path, whatever the order of its members.
func (a answer) wantValue(path string, want any) {
	if a.err != nil {
		return
	}
	got, err := pick.Raw(a.body, path)
	a.check(err)
	wanted, err := jsonx.Marshal(want)
	a.check(err)
	if a.err == nil && !reflect.DeepEqual(jsonx.Canonical(got), jsonx.Canonical(wanted)) {
		a.check(fmt.Errorf("%w: %s is\n%s\nwant\n%s", errUnexpected, path, got, wanted))
	}
}

// wantLength requires the length of the list at a path.
func (a answer) wantLength(n int, path string) {
	if a.err != nil {
		return
	}
	raw, err := pick.Raw(a.body, path)
	a.check(err)
	var items []json.RawMessage
	if a.check(json.Unmarshal(raw, &items)); a.err == nil && len(items) != n {
		a.check(fmt.Errorf("%w: %d entries, want %d", errUnexpected, len(items), n))
	}
}
