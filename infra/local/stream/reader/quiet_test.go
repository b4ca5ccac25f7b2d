package reader_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rethread/rethread/infra/local/stream/reader"
	"github.com/rethread/rethread/infra/test/dynamotest"
)

// TestQuietStream reads a stream without records for three seconds after the first poll:
// the reader polls 40 times a second at first, and 10 times from the second second on; a
// busy machine fewer times.
func TestQuietStream(t *testing.T) {
	t.Parallel()
	const most = 80
	engine, err := url.Parse(dynamotest.Endpoint(t))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var polls atomic.Int64
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(engine)
		if strings.HasSuffix(r.In.Header.Get("X-Amz-Target"), ".GetRecords") && polls.Add(1) == 1 {
			time.AfterFunc(3*time.Second, cancel)
		}
	}}
	server := httptest.NewServer(http.HandlerFunc(proxy.ServeHTTP))
	t.Cleanup(server.Close)
	opts := options(t, mustTable(t, "KEYS_ONLY"))
	opts.Endpoint = server.URL
	r, err := reader.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	if page, err := r.Read(ctx, mustShard(t, r).ID, ""); !errors.Is(err, context.Canceled) {
		t.Fatalf("%d records, %v", len(page.Records), err)
	}
	if n := polls.Load(); n > most {
		t.Errorf("%d polls, want up to %d", n, most)
	}
}
