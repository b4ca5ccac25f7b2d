package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// startTime bounds the start of a server.
const startTime = 5 * time.Minute

// server is a program of another framework that serves an agent, which the system
// calls. It listens at 127.0.0.1, at the port in PORT.
type server struct {
	story  string // the name of the story that needs it
	agent  string // its name in the system's configuration
	path   string // of its address
	folder string // below infra/test/clients, or absolute
	run    []string
	// config has the other members of the agent's configuration, type among them.
	config map[string]any
}

// servers returns all servers. Makefile installs what they need.
func servers() []server {
	const (
		agui      = "AG-UI servers (Python)"
		apiServer = "adk api_server"
		a2a       = "A2A servers"
	)
	v1, old := []string{".venv/bin/python", "a2a_server_v1.py"}, []string{".venv-0.3/bin/python", "a2a_server_v03.py"}
	adk := []string{".venv/bin/python", "a2a_server_adk.py"}
	tool := map[string]any{
		"name": "pick_color", "description": "Lets the user choose a color.", "parameters": map[string]any{"type": "object"},
	}
	return []server{
		{agui, "pydantic-ai", "/", "python", []string{".venv/bin/python", "agui_pydantic.py"}, map[string]any{
			"type": "ag_ui", "tools": []any{tool}, "forwarded_props": map[string]any{"mode": "test"}, "api_key_env": "AGENT_API_KEY",
		}},
		{agui, "langgraph", "/", "python", []string{".venv/bin/python", "agui_langgraph.py"}, map[string]any{"type": "ag_ui"}},
		{apiServer, "adk", "", "python", []string{".venv/bin/python", "adk_server.py"}, map[string]any{"type": "adk", "app": "scripted"}},
		{a2a, "a2a-both", "/both", "python", v1, map[string]any{"type": "a2a"}},
		{a2a, "a2a-old", "/old", "python", v1, map[string]any{"type": "a2a"}},
		{a2a, "a2a-polled", "/polled", "python", v1, map[string]any{"type": "a2a"}},
		{a2a, "a2a-0.3", "", "python", old, map[string]any{"type": "a2a"}},
		{a2a, "a2a-adk", "", "python", adk, map[string]any{"type": "a2a"}},
	}
}

// started is the servers of some stories, with their configuration by agent.
type started struct {
	agents map[string]json.RawMessage
	stops  []func()
}

func (s *started) stop() {
	for _, stop := range slices.Backward(s.stops) {
		stop()
	}
}

// startServers starts the servers that stories need and waits until they listen. stop
// must be called even after an error.
func startServers(ctx context.Context, root string, chosen []story) (*started, error) {
	out := &started{agents: map[string]json.RawMessage{}}
	for _, s := range servers() {
		needed := func(st story) bool { return st.name == s.story }
		if !slices.ContainsFunc(chosen, needed) {
			continue
		}
		address, err := freeAddress(ctx)
		if err != nil {
			return out, err
		}
		if err := s.start(ctx, root, address, out); err != nil {
			return out, fmt.Errorf("start the server of agent %s: %w", s.agent, err)
		}
	}
	if !slices.ContainsFunc(chosen, func(st story) bool { return st.name == documentedStory }) {
		return out, nil
	}
	return out, startDocumented(ctx, root, out)
}

// start starts a server that listens at an address.
func (s server) start(ctx context.Context, root, address string, out *started) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(root, "build", "clients-"+s.agent+".log"))
	if err != nil {
		return err
	}
	folder := s.folder
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(root, "infra", "test", "clients", folder)
	}
	cmd := exec.Command(s.run[0], s.run[1:]...) //nolint:noctx // stop ends it, after the stories
	if filepath.Base(s.run[0]) != s.run[0] {
		cmd = exec.Command(filepath.Join(folder, s.run[0]), s.run[1:]...) //nolint:noctx // as above
	}
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, log, log
	cmd.Env = append(os.Environ(), "PORT="+port, "PYTHONDONTWRITEBYTECODE=1", "PYTHONUNBUFFERED=1")
	if err := cmd.Start(); err != nil {
		return errors.Join(err, log.Close())
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it is killed
		close(exited)
	}()
	out.stops = append(out.stops, func() {
		_ = cmd.Process.Kill() // it may have exited
		<-exited
		_ = log.Close()
	})
	config := map[string]any{"url": "http://" + net.JoinHostPort("127.0.0.1", port) + s.path}
	for name, value := range s.config {
		config[name] = value
	}
	if out.agents[s.agent], err = json.Marshal(config); err != nil {
		return err
	}
	if err := waitUntilListening(ctx, address, exited); err != nil {
		return fmt.Errorf("%w (log: %s)", err, log.Name())
	}
	return nil
}

func freeAddress(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(0)))
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

var (
	errExited    = errors.New("it exited")
	errNotListen = errors.New("it does not listen")
)

func waitUntilListening(ctx context.Context, address string, exited <-chan struct{}) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTime, errNotListen)
	defer cancel()
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-exited:
			return errExited
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
