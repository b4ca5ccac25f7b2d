package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rethread/rethread/infra/test/clients/generated/toolbox"
	"github.com/rethread/rethread/infra/test/e2e/host"
)

// steps are what every story reports, in order.
func steps() []string {
	return []string{
		"create", "run", "thread", "pages", "task", "artifact", "fork", "rewind", "update", "delete",
	}
}

// bench is a folder in which the clients of a language are made and used.
type bench struct {
	language toolbox.Language
	url      string // of the system
	tools    string // the folder with openapi-generator-cli.jar
	source   string // the folder of the stories
	dir      string // the folder to work in, made anew
	spec     string // the contract
	out      io.Writer
}

// run generates the clients, checks them together with their stories, and runs the
// stories.
func (b bench) run(ctx context.Context) error {
	if err := b.prepare(); err != nil {
		return fmt.Errorf("prepare the clients in %s: %w", b.language.Name, err)
	}
	for _, c := range b.language.Clients {
		if _, err := b.sh(ctx, c.Generate); err != nil {
			return fmt.Errorf("%s: generate: %w", c.Name, err)
		}
	}
	if _, err := b.sh(ctx, b.language.Check); err != nil {
		return fmt.Errorf("check the clients in %s: %w", b.language.Name, err)
	}
	for _, c := range b.language.Clients {
		start := time.Now()
		if err := b.tell(ctx, c); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		took := time.Since(start).Seconds()
		if _, err := fmt.Fprintf(b.out, "%-36s %d steps in %.1f s\n", c.Name, len(steps()), took); err != nil {
			return err
		}
	}
	return nil
}

// prepare copies the stories and the contract into the folder, and links the tools.
func (b bench) prepare() error {
	if err := os.RemoveAll(b.dir); err != nil {
		return err
	}
	for _, c := range b.language.Clients {
		if err := os.MkdirAll(filepath.Join(b.dir, c.Folder), 0o750); err != nil {
			return err
		}
	}
	files := os.DirFS(b.source)
	entries, err := os.ReadDir(b.source)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if slices.Contains(b.language.Linked, e.Name()) {
			err = os.Symlink(filepath.Join(b.source, e.Name()), filepath.Join(b.dir, e.Name()))
		} else {
			err = copyAll(b.dir, files, e.Name())
		}
		if err != nil {
			return err
		}
	}
	jar := "openapi-generator-cli.jar"
	return errors.Join(
		os.Symlink(b.spec, filepath.Join(b.dir, "openapi.yaml")),
		os.Symlink(filepath.Join(b.tools, jar), filepath.Join(b.dir, jar)),
	)
}

// tell runs a story, which must report every step.
func (b bench) tell(ctx context.Context, c toolbox.Client) error {
	token, err := host.Token(ctx, b.url, c.Name)
	if err != nil {
		return err
	}
	output, err := b.sh(ctx, c.Story, "RETHREAD_URL="+b.url+"/api/v1", "RETHREAD_TOKEN="+token)
	if err != nil {
		return fmt.Errorf("tell the story: %w", err)
	}
	if got := strings.Fields(output); !slices.Equal(got, steps()) {
		return fmt.Errorf("the story has the steps %v instead of %v", got, steps())
	}
	return nil
}

// sh runs a command in the folder, with the language's tools in the path, and
// returns its standard output.
func (b bench) sh(ctx context.Context, command string, env ...string) (string, error) {
	path := filepath.Join(b.source, b.language.Bin) + string(os.PathListSeparator) + os.Getenv("PATH")
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Dir = b.dir
	cmd.Env = append(cmd.Environ(), append(env, "PATH="+path)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s%s", command, err, stdout.Bytes(), stderr.Bytes())
	}
	return stdout.String(), nil
}
