// Command clients runs the official clients of the protocols that Rethread speaks
// against a new local system whose agent is scripted. Each client plays a story
// in a process of its own and prints how many checks it made; a client that is
// not installed fails. README.md beside it says how to add one.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/rethread/rethread/infra/local/repo"
	"github.com/rethread/rethread/infra/test/clients/script"
	"github.com/rethread/rethread/infra/test/e2e/host"
)

// agentKey is the key that agents and models get.
const agentKey = "a-key-of-the-tests"

func main() {
	binary := flag.String("host", "build/rethread-local", "the built local host")
	only := flag.String("only", "", "part of the names of the stories to run")
	tck := flag.String("tck", "", "folder of the A2A TCK, to run that instead of the stories; its own arguments follow")
	version := flag.String("tck-version", "1.0", "the version of A2A that the TCK tests: 1.0 or 0.3")
	python := flag.String("python", "python3", "a Python with what the TCK needs")
	openResponses := flag.String("open-responses", "", "folder of the compliance suite of Open Responses, to run that instead of the stories; its own arguments follow")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := playWith(ctx, *binary, *only, func(root, url string, chosen []story) error {
		if *tck != "" {
			return runTCK(ctx, *tck, *version, *python, url, flag.Args())
		}
		if *openResponses != "" {
			return runOpenResponses(ctx, *openResponses, url, flag.Args())
		}
		return play(ctx, root, url, os.Stdout, chosen)
	}, *tck != "" || *openResponses != "")
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "clients:", err)
		os.Exit(1)
	}
}

// playWith calls do while a system runs with the scripted agent, the models and the
// agents that the chosen stories need; a suite needs no story.
func playWith(
	ctx context.Context, binary, only string, do func(root, url string, chosen []story) error, isSuite bool,
) (err error) {
	root, err := repo.Root("")
	if err != nil {
		return err
	}
	var chosen []story
	if !isSuite {
		if chosen, err = choose(only); err != nil {
			return err
		}
	}
	others, err := startServers(ctx, root, chosen)
	defer others.stop()
	if err != nil {
		return err
	}
	return withSystem(ctx, root, binary, others.agents, func(url string) error { return do(root, url, chosen) })
}

// withSystem calls do while a system with the scripted agent and others runs.
func withSystem(
	ctx context.Context, root, binary string, others map[string]json.RawMessage, do func(url string) error,
) (err error) {
	agent := script.Serve()
	defer agent.Close()
	itself := serveSelf()
	defer itself.Close()
	itself.agents(others)
	provider := serveProvider()
	defer provider.Close()
	maps.Copy(others, models(provider.URL))
	config, err := agents(agent.URL, others)
	if err != nil {
		return err
	}
	secrets := filepath.Join(root, "build", "clients-secrets.json")
	if err := os.WriteFile(secrets, fmt.Appendf(nil, `{%q:%q}`, documentedSecret, agentKey), 0o600); err != nil {
		return fmt.Errorf("write the agents' secrets: %w", err)
	}
	logFile, err := os.Create(filepath.Join(root, "build", "clients.log"))
	if err != nil {
		return fmt.Errorf("make a file for the host's log: %w", err)
	}
	h, err := host.Start(ctx, host.Options{
		Binary: binary, Root: root, Data: host.InMemory, Output: logFile,
		Env: []string{"AGENTS=" + config, "LOG_LEVEL=info", "AGENT_API_KEY=" + agentKey, "AGENT_SECRETS_FILE=" + secrets},
	})
	if err != nil {
		return fmt.Errorf("%w (log: %s)", err, logFile.Name())
	}
	defer func() { err = errors.Join(err, h.Stop(), logFile.Close()) }()
	if err := itself.aim(ctx, h.URL); err != nil {
		return err
	}
	return do(h.URL)
}

// choose returns the stories whose names contain a text.
func choose(only string) ([]story, error) {
	var chosen []story
	for _, s := range stories() {
		if strings.Contains(s.name, only) {
			chosen = append(chosen, s)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no story has %q in its name", only)
	}
	return chosen, nil
}

// agents returns the configuration of the scripted agent, under three names, one with
// a namespace, and of others.
func agents(url string, others map[string]json.RawMessage) (string, error) {
	config := map[string]any{}
	for _, name := range []string{"default", "scripted", "team/scripted"} {
		config[name] = map[string]string{"type": "http", "url": url}
	}
	for name, other := range others {
		config[name] = other
	}
	raw, err := json.Marshal(config)
	return string(raw), err
}
