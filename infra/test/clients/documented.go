package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

const (
	// documentedStory is the story that needs the agents that documents show.
	documentedStory = "docs/frameworks.md"
	// documentedPort is the port of each server in the documents, and
	// documentedProvider the address of each model.
	documentedPort, documentedProvider = "8080", "https://api.openai.com/v1"
	// documentedSecret names the models' key in the documents.
	documentedSecret = "/rethread/agents/openai"
)

var (
	errUnpinned  = errors.New("it is not the pinned version")
	errUnknown   = errors.New("no environment has it")
	heading      = regexp.MustCompile(`(?m)^#{2,3} `)
	shownFile    = regexp.MustCompile("(?s)```[a-z]+\n((?:#|//) (\\S+\\.[a-z]+)\n.*?)```")
	shownCommand = regexp.MustCompile(`(?m)^(.+) &\n(?:AGENTS=)`)
	shownAgents  = regexp.MustCompile(`(?s)AGENTS='(\{.*?\})'`)
	shownPackage = regexp.MustCompile("pip install \"?([a-z0-9-]+?)(?:\\[[a-z0-9,-]+\\])?==([0-9.]+)")
)

// documented is what a section of a document shows: an agent and its server, or
// agents that are models.
type documented struct {
	agents  map[string]map[string]any // their configuration
	command string                    // that starts the server; empty for models
	files   map[string]string         // all files of the document
	path    string                    // the folder of the server's programs
}

// readDocumented returns what docs/agents.md and docs/frameworks.md show.
func readDocumented(root string) ([]documented, error) {
	var all []documented
	for _, name := range []string{"agents.md", "frameworks.md"} {
		text, err := os.ReadFile(filepath.Join(root, "docs", name))
		if err != nil {
			return nil, err
		}
		files := map[string]string{}
		for _, f := range shownFile.FindAllStringSubmatch(string(text), -1) {
			files[f[2]] = f[1]
		}
		for _, section := range heading.Split(string(text), -1) {
			shown := shownAgents.FindStringSubmatch(section)
			if shown == nil {
				continue
			}
			d := documented{files: files}
			if command := shownCommand.FindStringSubmatch(section); command != nil {
				d.command = command[1]
			}
			title, _, _ := strings.Cut(section, "\n")
			if err := json.Unmarshal([]byte(shown[1]), &d.agents); err != nil {
				return nil, fmt.Errorf("%s, %s: %w", name, title, err)
			}
			if d.path, err = environmentOf(root, section); err != nil {
				return nil, fmt.Errorf("%s, %s: %w", name, title, err)
			}
			all = append(all, d)
		}
	}
	return all, nil
}

// startDocumented starts the servers that the documents show, and a provider for
// their models.
func startDocumented(ctx context.Context, root string, out *started) error {
	all, err := readDocumented(root)
	if err != nil {
		return err
	}
	provider := serveProvider()
	out.stops = append(out.stops, provider.Close)
	for _, d := range all {
		for agent, config := range d.agents {
			if d.command == "" {
				config["url"] = strings.Replace(config["url"].(string), documentedProvider, provider.URL, 1)
				if out.agents[agent], err = json.Marshal(config); err != nil {
					return err
				}
				continue
			}
			if err := d.start(ctx, root, agent, out); err != nil {
				return fmt.Errorf("start the server of agent %s: %w", agent, err)
			}
		}
	}
	return nil
}

// start starts the server of an agent in a new folder that has the document's files,
// with a free port in the place of documentedPort.
func (d documented) start(ctx context.Context, root, agent string, out *started) error {
	address, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "rethread-clients-")
	if err != nil {
		return err
	}
	out.stops = append(out.stops, func() { _ = os.RemoveAll(folder) }) // it is temporary
	here := strings.NewReplacer(documentedPort, port)
	for name, text := range d.files {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(here.Replace(text)), 0o600); err != nil {
			return err
		}
	}
	config := d.agents[agent]
	config["url"] = here.Replace(config["url"].(string))
	line := "PATH=" + d.path + ":$PATH; exec " + here.Replace(d.command)
	return server{agent: agent, folder: folder, run: []string{"bash", "-c", line}, config: config}.start(ctx, root, address, out)
}

// environmentOf returns the folder of the programs of a section's environment. What
// the section installs must have the version that is pinned there.
func environmentOf(root, section string) (string, error) {
	wanted := shownPackage.FindStringSubmatch(section)
	if wanted == nil && strings.Contains(section, "pip install") {
		return "", errUnpinned
	}
	if wanted == nil {
		return "/usr/bin", nil // it needs no package
	}
	folder := filepath.Join(root, "infra", "test", "clients", "python")
	text, err := os.ReadFile(filepath.Join(folder, "requirements.txt"))
	if err != nil {
		return "", err
	}
	pinned := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(wanted[1]) + `==(.*)$`).FindSubmatch(text)
	if pinned == nil {
		return "", fmt.Errorf("%s: %w", wanted[1], errUnknown)
	}
	if string(pinned[1]) != wanted[2] {
		return "", fmt.Errorf("%s %s: %w %s", wanted[1], wanted[2], errUnpinned, pinned[1])
	}
	return filepath.Join(folder, ".venv", "bin"), nil
}
