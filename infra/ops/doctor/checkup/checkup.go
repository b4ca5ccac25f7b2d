// Package checkup examines a deployed system from the outside, as its operator
// may: what AWS says of its parts, whether its doors are open and shut as they
// should be, and whether a session can be kept, watched, rewound and forked.
package checkup

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/rethread/rethread/infra/ops/deployment"
)

// Status is how a finding is to be taken.
type Status string

// The statuses.
const (
	OK      Status = "ok"
	Warn    Status = "warn"    // it works, and somebody should look at it
	Fail    Status = "fail"    // it does not work
	Skipped Status = "skipped" // it was not looked at
)

// Finding is one line of the report.
type Finding struct {
	Name   string // of what was looked at
	Status Status
	Detail string
	Advice string // what to do; of Warn and Fail
}

// Options say whom to examine.
type Options struct {
	*deployment.Deployment

	// Token is a token of the issuer, with which a session is tried. Empty means
	// that none is.
	Token string
	HTTP  *http.Client
	Now   func() time.Time
	NewID func() string
}

// checkTime is how long one check may take: the longest is that of a session,
// through cold starts.
const checkTime = 90 * time.Second

const (
	notHere  = "not on this machine"
	notKnown = "only its address is known: STACK=… names the stack"
)

// Run does all checks and reports what they find, in order. It returns whether
// nothing has failed.
func Run(ctx context.Context, o Options, report func(Finding)) (healthy bool) {
	healthy = true
	for _, check := range slices.Concat(o.ofServices(), o.ofDoors(), []check{o.trip}) {
		checking, cancel := context.WithTimeout(ctx, checkTime)
		for _, f := range check(checking) {
			healthy = healthy && f.Status != Fail
			report(f)
		}
		cancel()
	}
	return healthy
}

type check func(context.Context) []Finding

// ofServices look at what AWS says.
func (o Options) ofServices() []check {
	s := o.Services
	if s == nil {
		return []check{func(context.Context) []Finding {
			return []Finding{{Name: "AWS's services", Status: Skipped, Detail: notKnown}}
		}}
	}
	return []check{
		func(ctx context.Context) []Finding { return Tables(ctx, o.Deployment, s.DynamoDB) },
		func(ctx context.Context) []Finding { return Functions(ctx, o.Deployment, s.Lambda) },
		func(ctx context.Context) []Finding { return Mappings(ctx, o.Deployment, s.Lambda) },
		func(ctx context.Context) []Finding { return Queues(ctx, o.Deployment, s.SQS, s.Lambda) },
		func(ctx context.Context) []Finding {
			if s.CloudWatch == nil {
				return []Finding{{Name: "alarms", Status: Skipped, Detail: notHere}}
			}
			return Alarms(ctx, o.Deployment, s.CloudWatch)
		},
	}
}

// ofDoors look at what anybody may ask.
func (o Options) ofDoors() []check {
	return []check{
		func(ctx context.Context) []Finding { return Issuer(ctx, o.HTTP, o.Parameters["JwtIssuer"]) },
		func(ctx context.Context) []Finding { return Door(ctx, o.HTTP, o.Outputs["ApiUrl"], o.Now) },
		func(ctx context.Context) []Finding { return Streams(ctx, o.HTTP, o.Outputs["StreamUrl"]) },
	}
}

func (o Options) trip(ctx context.Context) []Finding {
	if o.Token == "" {
		return []Finding{{
			Name: "a session", Status: Warn, Detail: "not tried: there is no token",
			Advice: "TOKEN=…, a token of the issuer, lets make doctor keep, watch, rewind, fork and delete a session of its own",
		}}
	}
	return Trip(ctx, Caller{
		API: o.Outputs["ApiUrl"] + "/api/v1", Sockets: o.Outputs["WebSocketUrl"], Token: o.Token, HTTP: o.HTTP,
	}, o.NewID, o.Now)
}

// unread is the finding of what AWS would not tell.
func unread(name, permission string, err error) []Finding {
	return []Finding{{
		Name: name, Status: Fail, Detail: err.Error(),
		Advice: "your credentials must allow " + permission + " in the stack's region",
	}}
}

// orFine is what was found or, where nothing was, that all is well.
func orFine(found []Finding, name, detail string) []Finding {
	if len(found) > 0 {
		return found
	}
	return []Finding{{Name: name, Status: OK, Detail: detail}}
}
