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

var errBadAnswer = errors.New("the function's answer is not one that the gateway can use")

// answer is a function's response in payload format 2.0.
type answer struct {
	StatusCode int
	Headers    map[string]string
	Cookies    []string
	Body       []byte
}

// wireAnswer is the structured form. Pointers tell what is there.
type wireAnswer struct {
	StatusCode *json.Number   `json:"statusCode"`
	Headers    map[string]any `json:"headers"`
	Cookies    []string       `json:"cookies"`
	Body       *string        `json:"body"`
	Base64     bool           `json:"isBase64Encoded"`
}

// readAnswer reads what the function returned. An object with a statusCode is
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
	var wire wireAnswer
	decoder := json.NewDecoder(bytes.NewReader(result.Payload))
	decoder.UseNumber()
	if err := decoder.Decode(&wire); err != nil {
		return nil, fmt.Errorf("%w: %w", errBadAnswer, err)
	}
	return wire.read()
}

func isStructured(payload []byte) bool {
	var keys map[string]json.RawMessage
	err := json.Unmarshal(payload, &keys)
	return err == nil && keys["statusCode"] != nil
}

func (w *wireAnswer) read() (*answer, error) {
	if w.StatusCode == nil {
		return nil, fmt.Errorf("%w: no status", errBadAnswer)
	}
	status, err := w.StatusCode.Int64()
	if err != nil || status < 100 || status > 599 {
		return nil, fmt.Errorf("%w: status %s", errBadAnswer, w.StatusCode)
	}
	a := &answer{StatusCode: int(status), Cookies: w.Cookies, Headers: map[string]string{}}
	for name, value := range w.Headers {
		a.Headers[strings.ToLower(name)] = fmt.Sprint(value)
	}
	if a.Headers["content-type"] == "" {
		a.Headers["content-type"] = "text/plain;charset=utf-8"
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

// head sets the headers but for those that are the gateway's own to say.
func (a *answer) head(header http.Header, ownCORS bool) {
	for name, value := range a.Headers {
		switch {
		case name == "content-length", name == "transfer-encoding", name == "connection":
		case ownCORS && strings.HasPrefix(name, "access-control-"):
		default:
			header.Set(name, value)
		}
	}
	for _, cookie := range a.Cookies {
		header.Add("Set-Cookie", cookie)
	}
}

func (a *answer) write(rw http.ResponseWriter, ownCORS bool) {
	a.head(rw.Header(), ownCORS)
	rw.WriteHeader(a.StatusCode)
	if a.StatusCode != http.StatusNoContent && a.StatusCode != http.StatusNotModified {
		_, _ = rw.Write(a.Body) // a caller that is gone needs no answer
	}
}
