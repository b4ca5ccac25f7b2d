package boot

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"

	"github.com/rethread/rethread/shared/transport/console"
)

// StartConsole runs the function that serves the console, whose built page is in a
// folder of files, until Lambda stops it. It needs no table: WEBSOCKET_URL is the
// Address at which the page watches sessions, STREAM_URL that from which it exports
// them; JWT_ISSUER, CONSOLE_CLIENT_ID and
// CONSOLE_SCOPE configure the sign-in, CONSOLE_PRICES what tokens cost, TRACE_URL where traces are. DEV_TOKEN_URL, set only on a developer's
// machine, issues tokens to anyone.
func StartConsole(files fs.FS, folder string) {
	ctx := context.Background()
	log, err := newLogger(os.Getenv("LOG_LEVEL"))
	var handler http.Handler
	if err == nil {
		err = completeEnvironment(ctx)
	}
	if err == nil {
		handler, err = newConsole(files, folder, log)
	}
	if err != nil {
		slog.ErrorContext(ctx, "the function cannot start", "error", err)
		os.Exit(1)
	}
	serve(log, HTTP(handler))
}

func newConsole(files fs.FS, folder string, log *slog.Logger) (http.Handler, error) {
	page, err := fs.Sub(files, folder)
	if err != nil {
		return nil, fmt.Errorf("find the console's page: %w", err)
	}
	return console.New(console.Config{
		Page: page, WatchURL: os.Getenv("WEBSOCKET_URL"), StreamURL: os.Getenv("STREAM_URL"),
		SignIn: console.SignIn{
			DevTokenURL: os.Getenv("DEV_TOKEN_URL"),
			Issuer:      os.Getenv("JWT_ISSUER"), ClientID: os.Getenv("CONSOLE_CLIENT_ID"), Scope: os.Getenv("CONSOLE_SCOPE"),
		},
		Prices: os.Getenv("CONSOLE_PRICES"), TraceURL: os.Getenv("TRACE_URL"),
		Client: http.DefaultClient, Log: log,
	})
}
