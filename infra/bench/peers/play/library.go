package play

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/rethread/rethread/infra/bench/meter"
)

// library is a program whose library stores in tables, through a meter.
type library struct {
	*program

	meter *meter.Proxy
}

// startLibrary starts a program with an account of its own in the database. Its folder is
// relative to the benchmark's.
func startLibrary(ctx context.Context, b Bench, key, folder, interpreter string, args ...string) (Peer, error) {
	proxy, err := meter.Start(ctx, b.Engine)
	if err != nil {
		return nil, err
	}
	env := []string{
		"DYNAMODB_ENDPOINT=" + proxy.URL, "AWS_REGION=us-east-1", "AWS_DEFAULT_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=" + account(key), "AWS_SECRET_ACCESS_KEY=local", "AWS_EC2_METADATA_DISABLED=true",
	}
	p, err := startProgram(ctx, b, key, folder, env, interpreter, args...)
	if err != nil {
		return nil, errors.Join(err, proxy.Close())
	}
	return library{p, proxy}, nil
}

// account returns a peer's access key, by which the engine keeps the tables of each apart.
func account(key string) string { return strings.ReplaceAll(key, "-", "") }

// startMastra uses the Node.js among the packages where there is one for this machine:
// Mastra wants a newer one than the rest of the repository.
func startMastra(ctx context.Context, b Bench) (Peer, error) {
	found, err := filepath.Glob(filepath.Join(b.Root, Folder, "js", "node_modules", "node-*", "bin", "node"))
	if err != nil {
		return nil, err
	}
	return startLibrary(ctx, b, "mastra", "js", append(found, "node")[0], "mastra.mjs")
}

// quiet is how long a program must be silent: some send requests in the background.
const quiet = 50 * time.Millisecond

func (l library) Usage(ctx context.Context) (meter.Usage, error) {
	if err := l.meter.Settle(ctx, quiet); err != nil {
		return meter.Usage{}, err
	}
	return l.meter.Counts().Total(), nil
}

// Close ends the program and its meter.
func (l library) Close() error { return errors.Join(l.program.Close(), l.meter.Close()) }
