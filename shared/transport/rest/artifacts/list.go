package artifacts

import (
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/rest"
)

func (a *api) listArtifacts(c *rest.Call) (*rest.Reply, error) {
	id, err := c.SessionID()
	if err != nil {
		return nil, err
	}
	return versionPage(c, func(p rest.Pages, after string) (artifact.Page, error) {
		return a.Artifacts.Artifacts(c.Context(), artifact.Query{
			SessionID: id, UserID: c.User, Limit: p.Limit, After: after,
		})
	}, "artifacts", id)
}

func (a *api) listVersions(c *rest.Call) (*rest.Reply, error) {
	id, name, err := artifactName(c)
	if err != nil {
		return nil, err
	}
	if err := c.Permission.SeeArtifact(name); err != nil {
		return nil, err
	}
	return versionPage(c, func(p rest.Pages, after string) (artifact.Page, error) {
		return a.Artifacts.ArtifactVersions(c.Context(), artifact.VersionQuery{
			SessionID: id, UserID: c.User, Name: name, Limit: p.Limit, After: after,
		})
	}, "versions", id, name)
}

// versionPage answers a page of versions; selects names the list.
func versionPage(c *rest.Call,
	read func(p rest.Pages, after string) (artifact.Page, error), selects ...string,
) (*rest.Reply, error) {
	q, err := c.Query()
	if err != nil {
		return nil, err
	}
	p, err := c.Pages(q, session.DefaultPage, selects...)
	if err != nil {
		return nil, err
	}
	after, err := p.After()
	if err != nil {
		return nil, err
	}
	page, err := read(p, after)
	if err != nil {
		return nil, err
	}
	next, err := p.NextAfter(page.Next)
	if err != nil {
		return nil, err
	}
	return p.ListReply(rest.EmptyIfNil(c.Permission.Artifacts(page.Versions)), next)
}
