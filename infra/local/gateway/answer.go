package gateway

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/rethread/rethread/infra/local/lambda"
)

var errBadAnswer = errors.New("the function's response is invalid")

// answer is a function's response.
type answer struct {
	StatusCode int
	Headers    map[string]string
	// Multi are headers with several values, as in payload format 1.0.
	Multi   map[string][]string
	Cookies []string
	Body    []byte
}

// structuredAnswer is the structured response. A nil pointer is an absent member.
type structuredAnswer struct {
	StatusCode *json.Number        `json:"statusCode"`
	Headers    map[string]any      `json:"headers"`
	Multi      map[string][]string `json:"multiValueHeaders"`
	Cookies    []string            `json:"cookies"`
	Body       *string             `json:"body"`
	Base64     bool                `json:"isBase64Encoded"`
}

// readAnswer parses the function's response. An object with a statusCode is
// structured; any other JSON is the body of a 200.
func readAnswer(result *lambda.Result) (*answer, error) {
	if result.FunctionError != "" || !json.Valid(result.Payload) {
		return nil, errBadAnswer
	}
	if !isStructured(result.Payload) {
		return &answer{
			StatusCode: http.StatusOK, Body: result.Payload,
			Headers: map[string]string{"content-type": "application/json"},
		}, nil
	}
	wire, err := decodeAnswer(result.Payload)
	if err != nil {
		return nil, err
	}
	wire.Multi = nil
	return wire.read("text/plain;charset=utf-8")
}

func decodeAnswer(payload []byte) (*structuredAnswer, error) {
	var wire structuredAnswer
	decoder := json.NewDecoder(bytes.NewReader(payload))
	decoder.UseNumber()
	if err := decoder.Decode(&wire); err != nil {
		return nil, fmt.Errorf("%w: %w", errBadAnswer, err)
	}
	return &wire, nil
}

func isStructured(payload []byte) bool {
	var keys map[string]json.RawMessage
	err := json.Unmarshal(payload, &keys)
	return err == nil && keys["statusCode"] != nil
}

func (w *structuredAnswer) read(contentType string) (*answer, error) {
	if w.StatusCode == nil {
		return nil, fmt.Errorf("%w: statusCode is missing", errBadAnswer)
	}
	status, err := w.StatusCode.Int64()
	if err != nil || status < 100 || status > 599 {
		return nil, fmt.Errorf("%w: invalid statusCode %s", errBadAnswer, w.StatusCode)
	}
	a := &answer{StatusCode: int(status), Cookies: w.Cookies, Headers: map[string]string{}, Multi: map[string][]string{}}
	for name, value := range w.Headers {
		a.Headers[strings.ToLower(name)] = fmt.Sprint(value)
	}
	for name, values := range w.Multi {
		a.Multi[strings.ToLower(name)] = values
	}
	if a.Headers["content-type"] == "" && len(a.Multi["content-type"]) == 0 {
		a.Headers["content-type"] = contentType
	}
	if w.Body == nil {
		return a, nil
	}
	a.Body = []byte(*w.Body)
	if w.Base64 {
		if a.Body, err = base64.StdEncoding.DecodeString(*w.Body); err != nil {
			return nil, fmt.Errorf("%w: %w", errBadAnswer, err)
		}
	}
	return a, nil
}

// setHeaders sets the headers, except those that only the gateway may set.
func (a *answer) setHeaders(header http.Header, ownCORS bool) {
	for name, value := range a.Headers {
		if !isReserved(name, ownCORS) {
			header.Set(name, value)
		}
	}
	for name, values := range a.Multi {
		if isReserved(name, ownCORS) {
			continue
		}
		for _, value := range values {
			if value != a.Headers[name] { // a name in both maps is merged
				header.Add(name, value)
			}
		}
	}
	for _, cookie := range a.Cookies {
		header.Add("Set-Cookie", cookie)
	}
}

// isReserved reports whether only the gateway may set the header.
func isReserved(name string, ownCORS bool) bool {
	switch name {
	case "content-length", "transfer-encoding", "connection":
		return true
	default:
		return ownCORS && strings.HasPrefix(name, "access-control-")
	}
}

func (a *answer) write(rw http.ResponseWriter, ownCORS bool) {
	a.setHeaders(rw.Header(), ownCORS)
	rw.WriteHeader(a.StatusCode)
	if a.StatusCode != http.StatusNoContent && a.StatusCode != http.StatusNotModified {
		_, _ = rw.Write(a.Body) // the caller may have disconnected
	}
}
