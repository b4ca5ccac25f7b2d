package boot

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"sync"

	"github.com/aws/aws-lambda-go/events"

	"github.com/rethread/rethread/shared/observe/logs"
)

// aroundStream observes requests with streamed responses: an invocation ends with its
// response, before Lambda sees that end and may stop the process.
func (o Observer) aroundStream(h StreamHandler) StreamHandler {
	return func(ctx context.Context, event events.APIGatewayProxyRequest) (*events.APIGatewayProxyStreamingResponse, error) {
		ctx, i := o.begin(ctx, aboutStream(event))
		answer, err := h(ctx, event)
		if err != nil || answer == nil || answer.Body == nil {
			i.end(ctx, http.StatusInternalServerError, err)
			return answer, err
		}
		status := answer.StatusCode
		i.answered(ctx, status)
		logs.Add(ctx, slog.Int64("begun_ms", i.Now().Sub(i.began).Milliseconds()))
		answer.Body = &observedBody{Reader: answer.Body, end: sync.OnceFunc(func() { i.end(ctx, status, nil) })}
		return answer, nil
	}
}

// observedBody is a response body that reports its end or that it is closed.
type observedBody struct {
	io.Reader
	end func()
}

// Read implements io.Reader.
func (b *observedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil {
		b.end()
	}
	return n, err
}

// Close implements io.Closer.
func (b *observedBody) Close() error {
	defer b.end()
	if closer, ok := b.Reader.(io.Closer); ok {
		return closer.Close()
	}
	return nil
}
