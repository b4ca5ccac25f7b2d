// Package checkout reads the state of a Git checkout.
package checkout

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

var (
	// ErrDirty means that files differ from the commit, or are not part of it.
	ErrDirty = errors.New("the working tree differs from its commit")
	// ErrTagged means that another commit was released under the version.
	ErrTagged = errors.New("the tag belongs to another commit")
)

// State is a commit, and what differs from it.
type State struct {
	Commit string
	Time   int64    // of the commit, in seconds since 1970
	Dirty  []string // lines of git status; files that are ignored do not count
}

// Read returns the state of the checkout at root.
func Read(ctx context.Context, root string) (State, error) {
	head, err := git(ctx, root, "log", "-1", "--format=%H %ct")
	if err != nil {
		return State{}, err
	}
	commit, at, _ := strings.Cut(head, " ")
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return State{}, fmt.Errorf("read the commit's time: %w", err)
	}
	status, err := git(ctx, root, "status", "--porcelain", "--untracked-files=all")
	if err != nil {
		return State{}, err
	}
	s := State{Commit: commit, Time: seconds}
	if status != "" {
		s.Dirty = strings.Split(status, "\n")
	}
	return s, nil
}

// Clean returns ErrDirty if anything differs from the commit.
func (s State) Clean() error {
	if len(s.Dirty) > 0 {
		return fmt.Errorf("%w: %s", ErrDirty, strings.Join(s.Dirty, ", "))
	}
	return nil
}

// Free returns ErrTagged if the tag exists and is not at the commit.
func (s State) Free(ctx context.Context, root, tag string) error {
	tags, err := git(ctx, root, "tag", "--list", tag, "--format=%(if)%(*objectname)%(then)%(*objectname)%(else)%(objectname)%(end)")
	if err != nil {
		return err
	}
	if tags != "" && tags != s.Commit {
		return fmt.Errorf("%s is at %s: %w", tag, tags, ErrTagged)
	}
	return nil
}

func git(ctx context.Context, root string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", root}, args...)...)
	var problem strings.Builder
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(problem.String()))
	}
	return strings.TrimRight(string(out), "\n"), nil
}
