package rest

import (
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/session"
)

func (a *api) listArtifacts(c *call) (*reply, error) {
	id, err := c.sessionID()
	if err != nil {
		return nil, err
	}
	return c.versionPage(func(p pages, after string) (artifact.Page, error) {
		return a.Artifacts.Artifacts(c.Context(), artifact.Query{
			SessionID: id, UserID: c.user, Limit: p.limit, After: after,
		})
	}, "artifacts", id)
}

func (a *api) listVersions(c *call) (*reply, error) {
	id, name, err := c.artifactName()
	if err != nil {
		return nil, err
	}
	if err := c.permission.SeeArtifact(name); err != nil {
		return nil, err
	}
	return c.versionPage(func(p pages, after string) (artifact.Page, error) {
		return a.Artifacts.ArtifactVersions(c.Context(), artifact.VersionQuery{
			SessionID: id, UserID: c.user, Name: name, Limit: p.limit, After: after,
		})
	}, "versions", id, name)
}

// versionPage answers a page of versions; selects names the list.
func (c *call) versionPage(
	read func(p pages, after string) (artifact.Page, error), selects ...string,
) (*reply, error) {
	q, err := c.query()
	if err != nil {
		return nil, err
	}
	p, err := c.pages(q, session.DefaultPage, selects...)
	if err != nil {
		return nil, err
	}
	after, err := p.after()
	if err != nil {
		return nil, err
	}
	page, err := read(p, after)
	if err != nil {
		return nil, err
	}
	next, err := p.nextAfter(page.Next)
	if err != nil {
		return nil, err
	}
	return p.listReply(emptyIfNil(c.permission.Artifacts(page.Versions)), next)
}
