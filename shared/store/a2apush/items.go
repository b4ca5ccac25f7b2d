package a2apush

import (
	"cmp"
	"slices"

	"github.com/rethread/rethread/shared/domain/push"
)

// pushed holds all push configurations of a task in one item, so that reading them
// takes one read unit and one condition limits their number. Its partition is
// separate from the log's, so that functions that may read logs cannot read its
// secrets.
type pushed struct {
	PK      string                `dynamodbav:"PK"`
	SK      string                `dynamodbav:"SK"`
	User    string                `dynamodbav:"u,omitempty"`
	Session string                `dynamodbav:"s,omitempty"`
	Configs map[string]pushConfig `dynamodbav:"c,omitempty"`
	// Task is set instead of all else under the id of a run: the task that the run
	// belongs to.
	Task string `dynamodbav:"t,omitempty"`
}

type pushConfig struct {
	URL         string `dynamodbav:"u"`
	Token       string `dynamodbav:"t,omitempty"`
	Scheme      string `dynamodbav:"s,omitempty"`
	Credentials string `dynamodbav:"c,omitempty"`
	Version     string `dynamodbav:"v"`
	Since       int64  `dynamodbav:"ct,omitempty"`
}

const (
	pushedConfigs = "c"
	pushConfigURL = "u" // of a pushConfig
)

func (p pushed) configs() []push.Config {
	out := make([]push.Config, 0, len(p.Configs))
	for id, c := range p.Configs {
		out = append(out, c.config(id))
	}
	slices.SortFunc(out, func(a, b push.Config) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

func (c pushConfig) config(id string) push.Config {
	return push.Config{
		ID: id, URL: c.URL, Token: c.Token, Scheme: c.Scheme, Credentials: c.Credentials, Version: c.Version, Since: c.Since,
	}
}
