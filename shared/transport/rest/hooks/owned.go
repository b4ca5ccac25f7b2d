// Package hooks serves over HTTP what a user has few of: webhooks and automations.
package hooks

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/rest"
)

// api holds the handlers.
type api struct{ *rest.API }

// owned implements the endpoints of resources of which a user has few, such as
// webhooks: all are read together and paged here.
type owned[T any] struct {
	name string // of one, in messages
	path string // of the list
	id   string // the name of the path's parameter
	know func(T) label
	body func(T) any

	list   func(ctx context.Context, userID string) ([]T, error)
	read   func(ctx context.Context, userID, id string) (T, error)
	remove func(ctx context.Context, userID, id string) error
}

// label identifies a resource. Lists are in the order of creation.
type label struct {
	id      string
	created int64
	version int64
}

// ownedPosition is the position after which a list continues.
type ownedPosition struct {
	Created int64
	ID      string
}

func (o owned[T]) location(id string) string { return o.path + "/" + url.PathEscape(id) }

func (o owned[T]) reply(status int, one T) (*rest.Reply, error) {
	rep, err := rest.JSON(status, rest.Data{Data: o.body(one)})
	if err != nil {
		return nil, err
	}
	known := o.know(one)
	rep.Header.Set("ETag", rest.ETag(known.version))
	if status == http.StatusCreated {
		rep.Header.Set("Location", o.location(known.id))
	}
	return rep, nil
}

// whileExists answers the repeat of a creation only while the created resource
// exists.
func (o owned[T]) whileExists(e rest.Endpoint) rest.Endpoint {
	return func(c *rest.Call) (*rest.Reply, error) {
		rep, err := e(c)
		if err != nil || rep.Header.Get(rest.ReplayedHeader) == "" {
			return rep, err
		}
		var made struct {
			Data struct {
				ID string `json:"id"`
			} `json:"data"`
		}
		if err := json.Unmarshal(rep.Body, &made); err != nil {
			return nil, fmt.Errorf("decode an answer: %w", err)
		}
		if _, err := o.read(c.Context(), c.User, made.Data.ID); err != nil {
			return nil, err
		}
		return rep, nil
	}
}

func (o owned[T]) getOne(c *rest.Call) (*rest.Reply, error) {
	id, err := c.PathID(o.id)
	if err != nil {
		return nil, err
	}
	one, err := o.read(c.Context(), c.User, id)
	if err != nil {
		return nil, err
	}
	return o.reply(http.StatusOK, one)
}

func (o owned[T]) deleteOne(c *rest.Call) (*rest.Reply, error) {
	id, err := c.PathID(o.id)
	if err != nil {
		return nil, err
	}
	if err := o.remove(c.Context(), c.User, id); err != nil {
		return nil, err
	}
	return rest.NoContent(), nil
}

func (o owned[T]) getAll(c *rest.Call) (*rest.Reply, error) {
	p, err := c.PlainPages(session.DefaultPage, o.name+"s")
	if err != nil {
		return nil, err
	}
	var after ownedPosition
	if err := p.Resume(&after); err != nil {
		return nil, err
	}
	all, err := o.list(c.Context(), c.User)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(one T) bool {
		known := o.know(one)
		return cmp.Or(cmp.Compare(known.created, after.Created), cmp.Compare(known.id, after.ID)) <= 0
	})
	var next *string
	if len(all) > p.Limit {
		all = all[:p.Limit]
		last := o.know(all[p.Limit-1])
		if next, err = p.Next(ownedPosition{last.created, last.id}); err != nil {
			return nil, err
		}
	}
	bodies := make([]any, len(all))
	for i, one := range all {
		bodies[i] = o.body(one)
	}
	return p.ListReply(bodies, next)
}

// matchedVersion returns the version that an update requires, nil without
// If-Match.
func (o owned[T]) matchedVersion(c *rest.Call, id string) (*int64, error) {
	match, err := rest.ParseIfMatch(c.Header)
	if err != nil {
		return nil, err
	}
	return match.Version(o.name, func() (int64, error) {
		one, err := o.read(c.Context(), c.User, id)
		if err != nil {
			return 0, err
		}
		return o.know(one).version, nil
	})
}
