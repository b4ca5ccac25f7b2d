package dynamostore_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/dynamotest"
	"github.com/rethread/rethread/shared/dynamostore"
	"github.com/rethread/rethread/shared/fault"
	"github.com/rethread/rethread/shared/idempotency"
)

func TestIdempotency(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := dynamostore.New(dynamotest.Client(t), dynamotest.Table(t),
		dynamostore.WithClock(func() time.Time { return now }))
	c := idempotency.Claim{UserID: alice, Key: "k", Route: "POST /x", Digest: "d"}
	begin := func(c idempotency.Claim, want *idempotency.Answer, kind fault.Kind) {
		t.Helper()
		got, err := s.Begin(t.Context(), c)
		if (kind == 0) != (err == nil) || (kind != 0 && !errors.Is(err, fault.Of(kind))) {
			t.Errorf("begin %+v: %v", c, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("begin %+v (-want +got):\n%s", c, diff)
		}
	}
	begin(c, nil, 0)
	begin(c, nil, fault.Busy)
	if err := s.Release(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	begin(c, nil, 0)
	now = now.Add(idempotency.Lease + time.Second)
	begin(c, nil, 0) // the request before it died
	begin(c, nil, fault.Busy)

	body := make([]byte, 500_000) // larger than an item, and not to be compressed
	for i := range body {
		body[i] = byte(rand.Uint32()) //nolint:gosec // a test
	}
	answer := idempotency.Answer{Status: 201, Header: map[string]string{"Etag": `"1"`}, Body: body}
	if err := s.Finish(t.Context(), c, answer); err != nil {
		t.Fatal(err)
	}
	begin(c, &answer, 0)
	other := c
	other.Digest = "another body"
	begin(other, nil, fault.Invalid)
	for _, apart := range []idempotency.Claim{
		{UserID: bob, Key: "k", Route: "POST /x", Digest: "d"},
		{UserID: alice, Key: "k", Route: "POST /y", Digest: "d"},
	} {
		begin(apart, nil, 0)
	}
	now = now.Add(idempotency.Lifetime)
	begin(other, nil, 0) // a day later the key is free
}
