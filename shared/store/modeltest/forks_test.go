package modeltest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/session"
)

// forks compares the tree that a session belongs to. Deleted sessions without
// existing forks may be listed or not.
func (r *reader) forks(ctx context.Context, c *conv) (string, error) {
	if c != r.closely {
		return "", nil
	}
	page, err := r.store.History.Forks(ctx, session.TreeQuery{UserID: c.user, SessionID: c.id})
	if err != nil {
		return "", err
	}
	got, root := page.Root, c
	for root.parent != nil {
		root = root.parent
	}
	want := root.branch()
	for _, b := range []*session.Branch{&want, &got} {
		b.RewindBeforeInvocationID, b.BoundaryFound, b.ForkedAtSeq = nil, false, 0 // the root was not forked
		normalise(b)
	}
	return diff(want, got), nil
}

func (c *conv) branch() session.Branch {
	b := session.Branch{
		ID: c.id, Name: c.name, Deleted: c.gone,
		RewindBeforeInvocationID: c.boundary, BoundaryFound: c.found, ForkedAtSeq: int64(c.inherited),
	}
	for _, child := range c.children {
		b.Children = append(b.Children, child.branch())
	}
	return b
}

// normalise drops what the model does not contain.
func normalise(b *session.Branch) {
	b.CreatedTime = 0
	if b.Deleted {
		b.Name = ""
	}
	for i := range b.Children {
		normalise(&b.Children[i])
	}
	b.Children = slices.DeleteFunc(b.Children, func(child session.Branch) bool {
		return child.Deleted && len(child.Children) == 0
	})
	if len(b.Children) == 0 {
		b.Children = nil
	}
	slices.SortFunc(b.Children, func(x, y session.Branch) int { return strings.Compare(x.ID, y.ID) })
}

// artifacts reads the versions that belong to the conversation now.
func (r *reader) artifacts(ctx context.Context, c *conv) (string, error) {
	versions := r.w.values(c)
	maps.Copy(versions, c.now.state)
	for _, key := range slices.Sorted(maps.Keys(versions)) {
		name, ok := session.ArtifactOf(key)
		if !ok || c != r.closely {
			continue
		}
		want := r.w.content(c, key, versions[key])
		if strings.HasPrefix(want, onlyNamed) {
			continue
		}
		version, err := strconv.ParseInt(versions[key], 10, 64)
		if err != nil {
			return "", err
		}
		_, body, err := r.store.Artifacts.Artifact(ctx, artifact.Ref{
			SessionID: c.id, UserID: c.user, Name: name, Version: &version,
		})
		missing := errors.Is(err, fault.Of(fault.NotFound))
		if err != nil && !missing {
			return "", err
		}
		if string(body) != want || missing != (want == "") {
			return fmt.Sprintf("version %d of %s reads %q (missing: %v), want %q", version, name, body, missing, want), nil
		}
	}
	return "", nil
}
