package lambda_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rethread/rethread/infra/local/lambda"
)

func TestInvokeAPI(t *testing.T) {
	host, out := mustHost(t, function("probe", longTimeout), talkingFunction())
	for _, test := range []struct {
		name, function, kind, payload string
		status                        int
		header, want, body            string
	}{
		{"a synchronous invocation", "probe", "", `{}`, 200, "X-Amz-Executed-Version", "$LATEST", `"pid":`},
		{"by ARN", "arn:aws:lambda:us-east-1:0:function:probe", "RequestResponse", `{}`, 200, "", "", `"pid":`},
		{"a function's failure", "probe", "", `{"do":"fail"}`, 200, "X-Amz-Function-Error", "Unhandled", "asked to fail"},
		{"a stream, collected", "probe", "", `{"do":"stream","chunk":"first"}`, 200, "", "", "\x00first"},
		{"an unknown function", "none", "", `{}`, 404, "X-Amzn-Errortype", "ResourceNotFoundException", "Function not found"},
		{"invalid JSON", "probe", "", `{`, 400, "X-Amzn-Errortype", "InvalidRequestContentException", "json"},
		{"a payload over the limit", "probe", "", strings.Repeat(" ", lambda.MaxRequestBytes+1), 413, "X-Amzn-Errortype", "RequestTooLargeException", ""},
		{"a dry run", "probe", "DryRun", `{}`, 204, "", "", ""},
		{"an asynchronous invocation", "talking", "Event", `{}`, 202, "", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, header, body := mustPost(t, host.Endpoint()+"/2015-03-31/functions/"+test.function+"/invocations", test.kind, test.payload)
			if status != test.status || !strings.Contains(body, test.body) {
				t.Errorf("%d %s, want %d %s", status, body, test.status, test.body)
			}
			if got := header.Get(test.header); test.header != "" && got != test.want {
				t.Errorf("%s is %q, want %q", test.header, got, test.want)
			}
		})
	}
	t.Run("the asynchronous invocation ran", func(t *testing.T) {
		deadline := time.Now().Add(longTimeout)
		for !strings.Contains(out.String(), "a line of the function") {
			if time.Now().After(deadline) {
				t.Fatal("the function printed nothing")
			}
			time.Sleep(5 * time.Millisecond)
		}
	})
}

func talkingFunction() lambda.Definition {
	f := function("talking", longTimeout)
	f.Environment = map[string]string{"DEBUG_LINE": "yes"}
	return f
}

func mustPost(t *testing.T, url, kind, payload string) (status int, header http.Header, text string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(payload))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Amz-Invocation-Type", kind)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(body)
}
