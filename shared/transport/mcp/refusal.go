package mcp

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/rethread/rethread/shared/base/jsonx"
)

// Codes of JSON-RPC.
const (
	codeParse   = -32700
	codeRequest = -32600
	codeMethod  = -32601
	codeParams  = -32602
)

// The SDK's words for requests that it refuses before they reach the server.
const (
	unknownMethod = "JSON RPC not handled"
	noParams      = `missing required "params"`
)

// peek returns the body of a request, which can be read again. One that is too large,
// which the SDK refuses, is cut.
func peek(r *http.Request) []byte {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	rest := io.Reader(r.Body)
	if err != nil {
		rest = failing{err}
	}
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), rest))
	return body
}

// failing is a reader that fails.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// explain replaces what the SDK says in plain text by an error of JSON-RPC with the id of
// the request. A request that JSON-RPC itself has an answer to is not one that HTTP
// refuses: clients would not read why.
func (b *buffer) explain(request []byte) {
	kind, _, err := mime.ParseMediaType(b.header.Get("Content-Type"))
	if b.status != http.StatusBadRequest || err != nil || kind != "text/plain" {
		return
	}
	message := strings.TrimSpace(b.body.String())
	code, id := codeRequest, json.RawMessage("null")
	var of map[string]json.RawMessage
	switch {
	case !json.Valid(request):
		code = codeParse
	case json.Unmarshal(request, &of) != nil || jsonx.IsNull(of["id"]) || jsonx.IsArray(of["id"]) || jsonx.IsObject(of["id"]):
	default:
		id = of["id"]
		switch {
		case strings.HasPrefix(message, unknownMethod):
			code, b.status = codeMethod, http.StatusOK
		case strings.Contains(message, noParams):
			code, b.status = codeParams, http.StatusOK
		}
	}
	body, err := jsonx.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": message},
	})
	if err != nil {
		return // the plain text stays
	}
	b.header.Set("Content-Type", "application/json")
	b.header.Del("X-Content-Type-Options")
	b.body.Reset()
	_, _ = b.body.Write(body) // never fails
}
