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

var errUnexpected = errors.New("the API answered otherwise than it should")

// person talks to the API. After the first surprise, which ends the story, nothing
// more is sent.
type person struct {
	*printer
	ctx        context.Context //nolint:containedctx // of the whole story
	url, token string
}

func (s *story) login(ctx context.Context, url, name string) *person {
	token, err := host.Token(ctx, url, name+"-"+uuid.NewString())
	s.fail(err)
	return &person{printer: s.printer, ctx: ctx, url: url + "/api/v1", token: token}
}

func (p *person) get(path string) answer { return p.call(http.StatusOK, http.MethodGet, path, nil) }

func (p *person) post(want int, path string, body any) answer {
	return p.call(want, http.MethodPost, path, body)
}

// call makes a request that is to be answered with a status.
func (p *person) call(want int, method, path string, body any) answer {
	a := answer{printer: p.printer, of: method + " " + path}
	if p.err != nil {
		return a
	}
	var status int
	var err error
	if a.body, status, err = p.send(method, path, body); err == nil && status != want {
		err = fmt.Errorf("%w: %d instead of %d\n%s", errUnexpected, status, want, a.body)
	}
	a.check(err)
	return a
}

func (p *person) send(method, path string, body any) ([]byte, int, error) {
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

// answer is what the API said to a request.
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

// text is the value at a path; a string without its quotes.
func (a answer) text(path string) string {
	if a.err != nil {
		return ""
	}
	text, err := pick.Text(a.body, path)
	a.check(err)
	return text
}

// is holds the value at a path to another, whatever the order of members.
func (a answer) is(path string, want any) {
	if a.err != nil {
		return
	}
	got, err := pick.Raw(a.body, path)
	a.check(err)
	wanted, err := jsonx.Marshal(want)
	a.check(err)
	if a.err == nil && !reflect.DeepEqual(jsonx.Canonical(got), jsonx.Canonical(wanted)) {
		a.check(fmt.Errorf("%w: %s is\n%s\nand should be\n%s", errUnexpected, path, got, wanted))
	}
}

// has holds the list at a path to a length.
func (a answer) has(n int, path string) {
	if a.err != nil {
		return
	}
	raw, err := pick.Raw(a.body, path)
	a.check(err)
	var items []json.RawMessage
	if a.check(json.Unmarshal(raw, &items)); a.err == nil && len(items) != n {
		a.check(fmt.Errorf("%w: it lists %d, and should list %d", errUnexpected, len(items), n))
	}
}
