// Command probe is a function that fails on request, in many ways.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

type request struct {
	Do    string `json:"do"`
	Bytes int    `json:"bytes"`
	Chunk string `json:"chunk"`
	// Until is a file to wait for; "" does not wait.
	Until string `json:"until"`
}

type answer struct {
	PID       int               `json:"pid"`
	RequestID string            `json:"request_id"`
	ARN       string            `json:"arn"`
	Deadline  int64             `json:"deadline"`
	Env       map[string]string `json:"env"`
	Fill      string            `json:"fill"`
}

func main() {
	if os.Getenv("FAIL_INIT") != "" {
		os.Exit(3)
	}
	lambda.Start(handle)
}

func handle(ctx context.Context, req request) (any, error) {
	if os.Getenv("DEBUG_LINE") != "" {
		_, _ = fmt.Fprintln(os.Stderr, "a line of the function")
	}
	switch req.Do {
	case "fail":
		return nil, errors.New("asked to fail")
	case "panic":
		panic("asked to panic")
	case "exit":
		os.Exit(7)
	case "wait":
		await(req.Until)
	case "stream":
		return stream(req, nil), nil
	case "stream-fail":
		return stream(req, errors.New("asked to fail midway")), nil
	}
	return describe(ctx, req)
}

func describe(ctx context.Context, req request) (any, error) {
	lc, _ := lambdacontext.FromContext(ctx)
	deadline, _ := ctx.Deadline()
	env := map[string]string{}
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	payload, err := json.Marshal(answer{
		PID: os.Getpid(), RequestID: lc.AwsRequestID, ARN: lc.InvokedFunctionArn,
		Deadline: deadline.UnixMilli(), Env: env, Fill: strings.Repeat("x", req.Bytes),
	})
	return json.RawMessage(payload), err
}

// await says that this process waits for a file, and waits for it.
func await(name string) {
	if name == "" {
		return
	}
	if err := os.WriteFile(fmt.Sprint(name, ".", os.Getpid()), nil, 0o600); err != nil {
		panic(err)
	}
	for {
		if _, err := os.Stat(name); err == nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// stream answers with two chunks, waits for a file between them, and then ends with
// the given error.
func stream(req request, end error) *events.LambdaFunctionURLStreamingResponse {
	reader, writer := io.Pipe()
	go func() {
		_, _ = io.WriteString(writer, req.Chunk)
		await(req.Until)
		_, _ = io.WriteString(writer, strings.Repeat("y", req.Bytes))
		_ = writer.CloseWithError(end)
	}()
	return &events.LambdaFunctionURLStreamingResponse{
		StatusCode: 201, Headers: map[string]string{"Content-Type": "text/event-stream"},
		Cookies: []string{"a=b"}, Body: reader,
	}
}
