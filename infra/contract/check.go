package contract

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/getkin/kin-openapi/openapi3filter"
)

var errNoToken = errors.New("no bearer token")

func (t *transport) check(req *http.Request, m mode) (*http.Response, error) {
	t.report.Helper()
	call := req.Method + " " + req.URL.RequestURI()
	route, params, err := t.spec.find(req)
	if err != nil {
		t.report.Errorf("%s: not in the contract: %v", call, err)
		return t.next.RoundTrip(req)
	}
	plain, err := plainRequest(req)
	if err != nil {
		return nil, fmt.Errorf("check %s: %w", call, err)
	}
	input := &openapi3filter.RequestValidationInput{
		Request: plain, PathParams: params, Route: route,
		Options: &openapi3filter.Options{
			AuthenticationFunc:    requireToken,
			IncludeResponseStatus: true,
			SkipSettingDefaults:   true,
		},
	}
	if m == checked {
		if err := openapi3filter.ValidateRequest(req.Context(), input); err != nil {
			t.report.Errorf("%s: the request violates the contract: %v", call, err)
		}
	}
	res, err := t.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	return res, t.checkResponse(req.Context(), call, input, res)
}

func (t *transport) checkResponse(
	ctx context.Context, call string, input *openapi3filter.RequestValidationInput, res *http.Response,
) error {
	t.report.Helper()
	raw, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return fmt.Errorf("check the response to %s: %w", call, err)
	}
	res.Body = io.NopCloser(bytes.NewReader(raw))
	body, err := plainBody(res.Header, raw)
	if err != nil {
		t.report.Errorf("%s: %s, but its body cannot be read: %v", call, res.Status, err)
		return nil
	}
	answer := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: res.StatusCode, Header: res.Header, Options: input.Options,
	}
	answer.SetBodyBytes(body)
	if err := openapi3filter.ValidateResponse(ctx, answer); err != nil {
		t.report.Errorf("%s: %s violates the contract: %v\nbody: %.2000s", call, res.Status, err, body)
	}
	if res.StatusCode == http.StatusNoContent && len(body) > 0 {
		t.report.Errorf("%s: 204 with a body: %.200s", call, body)
	}
	return nil
}

func requireToken(_ context.Context, in *openapi3filter.AuthenticationInput) error {
	header := in.RequestValidationInput.Request.Header.Get("Authorization")
	if token, ok := strings.CutPrefix(header, "Bearer "); !ok || token == "" {
		return in.NewError(errNoToken)
	}
	return nil
}

// plainRequest returns a copy of the request with an uncompressed body; the
// request itself can still be sent.
func plainRequest(req *http.Request) (*http.Request, error) {
	plain := req.Clone(req.Context())
	if req.Body == nil {
		return plain, nil
	}
	raw, err := io.ReadAll(req.Body)
	if err := errors.Join(err, req.Body.Close()); err != nil {
		return nil, fmt.Errorf("read the request's body: %w", err)
	}
	req.Body = io.NopCloser(bytes.NewReader(raw))
	body, err := plainBody(req.Header, raw)
	if err != nil {
		body = raw // deliberately invalid: the contract's check reports it
	}
	plain.Body = io.NopCloser(bytes.NewReader(body))
	plain.GetBody = nil // would return the compressed body
	plain.ContentLength = int64(len(body))
	return plain, nil
}

func plainBody(header http.Header, raw []byte) ([]byte, error) {
	if header.Get("Content-Encoding") != "gzip" {
		return raw, nil
	}
	unzip, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("open gzip: %w", err)
	}
	body, err := io.ReadAll(unzip)
	if err := errors.Join(err, unzip.Close()); err != nil {
		return nil, fmt.Errorf("unpack gzip: %w", err)
	}
	return body, nil
}
