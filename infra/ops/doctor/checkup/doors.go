package checkup

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// How far a clock may be off: the Date of an answer has whole seconds, a token's
// times are checked to the second, and signatures of requests to AWS hold for 5
// minutes.
const (
	clockFine  = 5 * time.Second
	clockWrong = 4 * time.Minute
)

// Door looks whether the API answers, and lets nobody in without a token; and how
// far this machine's clock is from its own.
func Door(ctx context.Context, client *http.Client, api string, now func() time.Time) []Finding {
	f := Finding{Name: "API", Status: Fail}
	began := now()
	res, err := get(ctx, client, api+"/api/v1/sessions")
	if err != nil {
		f.Detail, f.Advice = err.Error(), "is that its address? docs/operation.md, Doctor"
		return []Finding{f, {Name: "clock", Status: Skipped, Detail: "nobody to compare with"}}
	}
	_ = res.Body.Close() // nothing of it is read
	switch res.StatusCode {
	case http.StatusUnauthorized:
		f.Status, f.Detail = OK, api+" answers 401 without a token"
	case http.StatusOK:
		f.Detail, f.Advice = api+" lets in who has no token", "take it off the net, and deploy template.yaml again"
	default:
		f.Detail = fmt.Sprintf("%s answers %s where 401 is due", api, res.Status)
		f.Advice = "404 and 403 come of a wrong address, 5xx of the API's gateway: its access log says more"
	}
	return []Finding{f, clock(res.Header, began, now())}
}

// clock compares an answer's Date with the middle of the time that it took.
func clock(header http.Header, began, ended time.Time) Finding {
	f := Finding{Name: "clock"}
	there, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		f.Status, f.Detail = Skipped, "the answer has no Date"
		return f
	}
	middle := began.Add(ended.Sub(began) / 2)
	off := there.Add(time.Second / 2).Sub(middle) // the Date has lost half a second on average
	side := "behind"
	if off < 0 {
		side = "ahead of"
	}
	f.Detail = fmt.Sprintf("this machine's is %s %s theirs", off.Abs().Round(time.Second), side)
	switch {
	case off.Abs() < clockFine:
		f.Status, f.Detail = OK, fmt.Sprintf("this machine's is within %s of theirs", clockFine)
	case off.Abs() < clockWrong:
		f.Status, f.Advice = Warn, "set it, else tokens that are made here may be refused"
	default:
		f.Status, f.Advice = Fail, "set it: AWS refuses what is signed by it"
	}
	return f
}

// Streams looks whether the API that streams answers, by what anybody may read:
// the keys of notifications.
func Streams(ctx context.Context, client *http.Client, url string) []Finding {
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
