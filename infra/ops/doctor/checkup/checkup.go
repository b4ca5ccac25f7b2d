// Package checkup examines a deployed system as its operator sees it: what AWS
// reports about its resources, whether its APIs accept and refuse requests as they
// should, and whether a session can be created, watched, rewound and forked.
package checkup

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/rethread/rethread/infra/ops/deployment"
)

// Status is the severity of a finding.
type Status string

// The statuses.
const (
	OK      Status = "ok"
	Warn    Status = "warn"    // it works, but needs attention
	Fail    Status = "fail"    // it does not work
	Skipped Status = "skipped" // it was not checked
)

// Finding is one line of the report.
type Finding struct {
	Name   string // name of the check
	Status Status
	Detail string
	Advice string // what to do; only of Warn and Fail
}

// Options select the system to examine.
type Options struct {
	*deployment.Deployment

	// Token is a token of the issuer for trying a session. If it is empty, no session
	// is tried.
	Token string
	HTTP  *http.Client
	Now   func() time.Time
	NewID func() string
}

// checkTime limits one check: the longest is that of a session, including cold
// starts.
const checkTime = 90 * time.Second

const (
	notLocal = "not on this machine"
	notKnown = "only its address is known: STACK=… names the stack"
)

// Run makes all checks and reports their findings, in order. It returns whether
// none has failed.
func Run(ctx context.Context, o Options, report func(Finding)) (healthy bool) {
	healthy = true
	for _, check := range slices.Concat(o.serviceChecks(), o.publicChecks(), []check{o.session}) {
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

// serviceChecks are the checks of what AWS reports.
func (o Options) serviceChecks() []check {
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
				return []Finding{{Name: "alarms", Status: Skipped, Detail: notLocal}}
			}
			return append(Alarms(ctx, o.Deployment, s.CloudWatch), Filters(o.Deployment)...)
		},
	}
}

// publicChecks are the checks of what anyone may request.
func (o Options) publicChecks() []check {
	return []check{
		func(ctx context.Context) []Finding { return Issuer(ctx, o.HTTP, o.Parameters["JwtIssuer"]) },
		func(ctx context.Context) []Finding { return API(ctx, o.HTTP, o.Outputs["ApiUrl"], o.Now) },
		func(ctx context.Context) []Finding { return StreamingAPI(ctx, o.HTTP, o.Outputs["StreamUrl"]) },
	}
}

func (o Options) session(ctx context.Context) []Finding {
	if o.Token == "" {
		return []Finding{{
			Name: "a session", Status: Warn, Detail: "not tried: there is no token",
			Advice: "set TOKEN=… to a token of the issuer: make doctor then creates, watches, rewinds, forks and deletes a session",
		}}
	}
	return TrySession(ctx, Caller{
		API: o.Outputs["ApiUrl"] + "/api/v1", Sockets: o.Outputs["WebSocketUrl"], Token: o.Token, HTTP: o.HTTP,
	}, o.NewID, o.Now)
}

// requestFailed is the finding for a request to AWS that failed.
func requestFailed(name, permission string, err error) []Finding {
	return []Finding{{
		Name: name, Status: Fail, Detail: err.Error(),
		Advice: "your credentials must allow " + permission + " in the stack's region",
	}}
}

// orOK returns the findings or, if there are none, a finding that all is well.
func orOK(found []Finding, name, detail string) []Finding {
	if len(found) > 0 {
		return found
	}
	return []Finding{{Name: name, Status: OK, Detail: detail}}
}
