// Command doctor examines a deployed system and advises what to do about its
// findings: `make doctor` for the local system or the one at RETHREAD_URL and
// RETHREAD_WS_URL, `make doctor STACK=…` for one in AWS. With a token, in TOKEN,
// it tries a session; on this machine it gets a token itself. It exits with status
// 1 if a check failed.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/ops/deployment"
	"github.com/rethread/rethread/infra/ops/doctor/checkup"
	"github.com/rethread/rethread/infra/test/e2e/host"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUnhealthy):
		os.Exit(1) // the report has the reasons
	default:
		fmt.Fprintln(os.Stderr, "doctor:", err)
		os.Exit(1)
	}
}

// errUnhealthy means that the report has failures.
var errUnhealthy = errors.New("something does not work")

// requestTime limits one request, including a cold start.
const requestTime = 35 * time.Second

func run(ctx context.Context, args []string, out, problems io.Writer) error {
	var at deployment.Location
	flags := flag.NewFlagSet("doctor", flag.ContinueOnError)
	flags.SetOutput(problems)
	flags.StringVar(&at.Stack, "stack", os.Getenv("STACK"), "name of the stack in AWS")
	flags.StringVar(&at.URL, "http", cmp.Or(os.Getenv("RETHREAD_URL"), "http://127.0.0.1:3000"), "address of the HTTP API, without a stack")
	flags.StringVar(&at.Sockets, "ws", cmp.Or(os.Getenv("RETHREAD_WS_URL"), "ws://127.0.0.1:3001"), "address of the WebSocket API, without a stack")
	if err := flags.Parse(args); err != nil {
		return err
	}
	at.URL = strings.TrimSuffix(at.URL, "/")
	report := checkup.NewReport(out)
	found, err := deployment.Find(ctx, at)
	if err != nil {
		report.Add(checkup.Finding{
			Name: "system", Status: checkup.Fail, Detail: err.Error(),
			Advice: "start one with make run, name another with RETHREAD_URL=…, or a stack with STACK=… and AWS_REGION",
		})
		return errors.Join(errUnhealthy, report.End())
	}
	if _, err := fmt.Fprintf(out, "%s\n\n", found.Name); err != nil {
		return err
	}
	healthy := checkup.Run(ctx, checkup.Options{
		Deployment: found, Token: token(ctx, found), HTTP: &http.Client{Timeout: requestTime},
		Now: time.Now, NewID: uuid.NewString,
	}, report.Add)
	if err := report.End(); err != nil {
		return err
	}
	if !healthy {
		return errUnhealthy
	}
	return nil
}

// token returns the given token or, for a local system, one of the development
// issuer.
func token(ctx context.Context, d *deployment.Deployment) string {
	if given := os.Getenv("TOKEN"); given != "" || !d.Local {
		return given
	}
	own, err := host.Token(ctx, d.Outputs["ApiUrl"], "doctor")
	if err != nil {
		return "" // another issuer signs; the report mentions the missing token
	}
	return own
}
