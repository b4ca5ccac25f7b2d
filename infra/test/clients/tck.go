package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/e2e/host"
)

// reused matches a message id of the TCK, which sends different messages with the
// same one.
var reused = regexp.MustCompile(`("messageId"\s*:\s*"(?:tck|test)-[^"]*)"`)

// tckArguments returns the arguments for the MUST requirements in a version of A2A.
func tckArguments(version, system string) []string {
	if version == "0.3" {
		return []string{"run_tck.py", "--sut-url", system + "/a2a/default", "--category", "mandatory", "--transports", "jsonrpc,rest"}
	}
	return []string{"run_tck.py", "--sut-host", system, "--level", "must", "--transport", "jsonrpc,http_json"}
}

// runTCK runs the A2A TCK of a folder. It reaches the system through a proxy that
// adds what the TCK leaves out: a token, the version in the request for the card,
// and message ids of their own.
func runTCK(ctx context.Context, folder, version, python, system string, extra []string) error {
	token, err := host.Token(ctx, system, "tck")
	if err != nil {
		return err
	}
	target, err := url.Parse(system)
	if err != nil {
		return fmt.Errorf("read the system's address: %w", err)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host // which the card's addresses have
		r.Out.Header.Set("Authorization", "Bearer "+token)
		if version == "1.0" && strings.HasSuffix(r.Out.URL.Path, "agent-card.json") {
			r.Out.Header.Set("A2A-Version", "1.0")
		}
		if r.In.Body == nil {
			return
		}
		body, err := io.ReadAll(r.In.Body)
		if err != nil {
			return // the caller has left
		}
		body = reused.ReplaceAll(body, []byte("$1-"+uuid.NewString()+`"`))
		r.Out.Body, r.Out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Out.Header.Set("Content-Length", strconv.Itoa(len(body)))
	}})
	defer proxy.Close()
	cmd := exec.CommandContext(ctx, python, append(tckArguments(version, proxy.URL), extra...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the TCK: %w", err)
	}
	return nil
}
