package checkup

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// Limits of a clock's deviation: the Date of an answer has whole seconds, a
// token's times are checked to the second, and signatures of requests to AWS are
// valid for 5 minutes.
const (
	clockFine  = 5 * time.Second
	clockWrong = 4 * time.Minute
)

// API checks that the API answers and refuses requests without a token, and how
// far the local clock is from the API's.
func API(ctx context.Context, client *http.Client, api string, now func() time.Time) []Finding {
	f := Finding{Name: "API", Status: Fail}
	began := now()
	res, err := get(ctx, client, api+"/api/v1/sessions")
	if err != nil {
		f.Detail, f.Advice = err.Error(), "check the address; see docs/operation.md, Doctor"
		return []Finding{f, {Name: "clock", Status: Skipped, Detail: "no answer to compare with"}}
	}
	_ = res.Body.Close() // the body is not needed
	switch res.StatusCode {
	case http.StatusUnauthorized:
		f.Status, f.Detail = OK, api+" answers 401 without a token"
	case http.StatusOK:
		f.Detail, f.Advice = api+" accepts requests without a token", "block access to it, and deploy template.yaml again"
	default:
		f.Detail = fmt.Sprintf("%s answers %s where 401 is due", api, res.Status)
		f.Advice = "404 and 403 mean a wrong address; 5xx is from the API's gateway, see its access log"
	}
	return []Finding{f, clock(res.Header, began, now())}
}

// clock compares an answer's Date with the middle of the request's duration.
func clock(header http.Header, began, ended time.Time) Finding {
	f := Finding{Name: "clock"}
	there, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		f.Status, f.Detail = Skipped, "the answer has no Date header"
		return f
	}
	middle := began.Add(ended.Sub(began) / 2)
	off := there.Add(time.Second / 2).Sub(middle) // the Date is truncated by half a second on average
	side := "behind"
	if off < 0 {
		side = "ahead of"
	}
	f.Detail = fmt.Sprintf("this machine's clock is %s %s the API's", off.Abs().Round(time.Second), side)
	switch {
	case off.Abs() < clockFine:
		f.Status, f.Detail = OK, fmt.Sprintf("this machine's clock is within %s of the API's", clockFine)
	case off.Abs() < clockWrong:
		f.Status, f.Advice = Warn, "set the clock: tokens issued on this machine may be refused"
	default:
		f.Status, f.Advice = Fail, "set the clock: AWS refuses requests signed with this time"
	}
	return f
}

// StreamingAPI checks that the streaming API answers, with a public resource: the keys
// of notifications.
func StreamingAPI(ctx context.Context, client *http.Client, url string) []Finding {
	f := Finding{Name: "API of streams", Status: Fail}
	if url == "" {
		f.Status, f.Detail = Skipped, notKnown
		return []Finding{f}
	}
	var set struct {
		Keys []any `json:"keys"`
	}
	if err := read(ctx, client, url+"/a2a/.well-known/jwks.json", &set); err != nil {
		f.Detail, f.Advice = err.Error(), "see the log of the function a2a, and the access log of the REST API"
		return []Finding{f}
	}
	f.Status, f.Detail = OK, fmt.Sprintf("%s answers, keys of notifications: %d", url, len(set.Keys))
	return []Finding{f}
}
