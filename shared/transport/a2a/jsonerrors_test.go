package a2a_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/transport/a2a"
)

func TestInvalidRequests(t *testing.T) {
	store := stores.New(storetest.Engine(t))
	handler := a2a.New(configOf(store))
	for name, c := range map[string]struct{ version, body, want string }{
		"an array":                    {"1.0", `[]`, `{"code":-32600,"message":"invalid request: the request must be an object"}`},
		"null":                        {"", `null`, `{"code":-32600,"message":"invalid request: the request must be an object"}`},
		"a method of a wrong type":    {"1.0", `{"jsonrpc":"2.0","id":1,"method":1}`, `{"code":-32600,"message":"invalid request: method must be a string"}`},
		"no method":                   {"", `{"jsonrpc":"2.0","id":1}`, `{"code":-32600,"message":"invalid request: method must be a string"}`},
		"an id that is an object":     {"1.0", `{"jsonrpc":"2.0","id":{},"method":"GetTask"}`, `{"code":-32600,"message":"invalid request: id must be a string, a number or null"}`},
		"parameters that are a list":  {"1.0", `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":[]}`, `"code":-32602,"message":"invalid params: a member must not be an array"`},
		"a member of a wrong type":    {"1.0", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":5}}`, `"code":-32602,"message":"invalid params: message must not be a number"`},
		"the same in version 0.3":     {"", `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":true}}`, `"code":-32602,"message":"invalid params: id must not be a boolean"`},
		"a message that is null, 0.3": {"", `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":null}}`, `"code":-32602`},
	} {
		t.Run(name, func(t *testing.T) {
			w := post(t, handler, c.version, "/a2a/helper", c.body)
			got, err := io.ReadAll(w.Body)
			if err != nil || w.Code != http.StatusOK || !strings.Contains(string(got), c.want) {
				t.Errorf("got %d %s, %v, want %s", w.Code, got, err, c.want)
			}
		})
	}
}
