package proxy

import (
	"context"
	"encoding/json"
	"hash/crc32"
	"net/http"
	"strconv"
	"time"

	"github.com/rethread/rethread/infra/chaos/faults"
	"github.com/rethread/rethread/shared/base/retry"
)

// call is one request in the proxy.
type call struct {
	proxy     *Proxy
	operation string
	request   *http.Request
	body      []byte
	severity  float64 // below 1: of the delay, or of the loss
}

// serve answers the request with the given fault.
func (c *call) serve(ctx context.Context, rw http.ResponseWriter, kind faults.Kind) {
	if refusal, ok := c.refusal(kind); ok {
		refusal.write(rw)
		return
	}
	if kind == faults.Partial {
		c.partial(ctx, rw)
		return
	}
	got, err := c.proxy.forward(ctx, c.request, c.body)
	if err != nil {
		panic(http.ErrAbortHandler) // like a service that does not answer
	}
	if c.operation == "GetRecords" {
		got = c.proxy.stream.pass(c.body, got, kind == faults.Repeated)
	}
	switch kind {
	case faults.After:
		internal().write(rw)
	case faults.Cut:
		panic(http.ErrAbortHandler)
	case faults.Torn:
		c.torn(rw, got)
	case faults.Delay:
		if retry.Sleep(ctx, time.Duration(c.severity*float64(maxDelay))) != nil {
			return
		}
		got.write(rw)
	default:
		got.write(rw)
	}
}

// torn sends a part of the answer with the length of the whole.
func (c *call) torn(rw http.ResponseWriter, got answer) {
	part := got.body[:int(c.severity*float64(len(got.body)))]
	copyHeader(rw.Header(), got.header)
	rw.Header().Set("Content-Length", strconv.Itoa(len(got.body)))
	rw.WriteHeader(got.status)
	_, _ = rw.Write(part) // the connection is cut in any case
	_ = http.NewResponseController(rw).Flush()
	panic(http.ErrAbortHandler)
}

// refusal returns the answer of a fault that prevents the request.
func (c *call) refusal(kind faults.Kind) (answer, bool) {
	switch kind {
	case faults.Throttle:
		if c.severity < 0.5 {
			return refused("com.amazon.coral.availability#ThrottlingException", "Rate of requests exceeds the allowed throughput."), true
		}
		return refused(namespace+"ProvisionedThroughputExceededException",
			"The level of configured provisioned throughput for the table was exceeded."), true
	case faults.Conflict:
		return c.conflict(), true
	case faults.Before, faults.Failing:
		return internal(), true
	case faults.Expired:
		return refused(namespace+"ExpiredIteratorException", "Iterator expired."), true
	default:
		return answer{}, false
	}
}

const namespace = "com.amazonaws.dynamodb.v20120810#"

// conflict is DynamoDB's error when another transaction has an item; in a
// transaction, as the reason of one of its actions.
func (c *call) conflict() answer {
	if c.operation != "TransactWriteItems" && c.operation != "TransactGetItems" {
		return refused(namespace+"TransactionConflictException", "Transaction is ongoing for the item")
	}
	var in struct{ TransactItems []json.RawMessage }
	_ = json.Unmarshal(c.body, &in) // without actions there is one reason
	reasons := make([]map[string]any, max(1, len(in.TransactItems)))
	at := int(c.severity * float64(len(reasons)))
	text := ""
	for i := range reasons {
		reasons[i] = map[string]any{"Code": "None"}
		if i == at {
			reasons[i] = map[string]any{"Code": "TransactionConflict", "Message": "Transaction is ongoing for the item"}
		}
		if i > 0 {
			text += ", "
		}
		text += reasons[i]["Code"].(string) //nolint:forcetypeassert // set above
	}
	return failure(http.StatusBadRequest, map[string]any{
		"__type":              namespace + "TransactionCanceledException",
		"Message":             "Transaction cancelled, please refer cancellation reasons for specific reasons [" + text + "]",
		"CancellationReasons": reasons,
	})
}

func refused(kind, message string) answer {
	return failure(http.StatusBadRequest, map[string]any{"__type": kind, "message": message})
}

func internal() answer {
	return failure(http.StatusInternalServerError, map[string]any{
		"__type": namespace + "InternalServerError", "message": "The request processing has failed.",
	})
}

func failure(status int, body map[string]any) answer {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // it consists of strings
	}
	a := answer{status: status, body: text, header: http.Header{}}
	a.header.Set("Content-Type", "application/x-amz-json-1.0")
	a.header.Set("X-Amzn-Requestid", "CHAOS")
	return a.withChecksum()
}

// withChecksum is the answer with the checksum of its body, which clients verify.
func (a answer) withChecksum() answer {
	a.header = a.header.Clone()
	a.header.Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(a.body)), 10))
	a.header.Del("Content-Length")
	return a
}

func (a answer) write(rw http.ResponseWriter) {
	copyHeader(rw.Header(), a.header)
	rw.WriteHeader(a.status)
	_, _ = rw.Write(a.body) // the client may have disconnected
}

func copyHeader(to, from http.Header) {
	for name, values := range from {
		to[name] = values
	}
}
