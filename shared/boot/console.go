package boot

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/rethread/rethread/shared/console"
)

// StartConsole runs the function that serves the console, whose built page is in
// a folder of files, until Lambda stops it. It needs no table: WEBSOCKET_URL is
// where the page watches sessions, JWT_ISSUER, CONSOLE_CLIENT_ID and CONSOLE_SCOPE
// are how people sign in. DEV_TOKEN_URL, which only a developer's machine sets,
// is where anyone gets a token.
func StartConsole(files fs.FS, folder string) {
	ctx := context.Background()
	handler, err := newConsole(files, folder)
	if err != nil {
		slog.ErrorContext(ctx, "the function cannot start", "error", err)
		os.Exit(1)
	}
	lambda.StartWithOptions(HTTP(handler), lambda.WithContext(ctx))
}

func newConsole(files fs.FS, folder string) (http.Handler, error) {
	log, err := newLogger(os.Getenv("LOG_LEVEL"))
	if err != nil {
		return nil, err
	}
	page, err := fs.Sub(files, folder)
	if err != nil {
		return nil, fmt.Errorf("find the console's page: %w", err)
	}
	return console.New(console.Config{
		Page: page, WatchURL: os.Getenv("WEBSOCKET_URL"),
		SignIn: console.SignIn{
			DevTokenURL: os.Getenv("DEV_TOKEN_URL"),
			Issuer:      os.Getenv("JWT_ISSUER"), ClientID: os.Getenv("CONSOLE_CLIENT_ID"), Scope: os.Getenv("CONSOLE_SCOPE"),
		},
		Client: http.DefaultClient, Log: log,
	})
}
