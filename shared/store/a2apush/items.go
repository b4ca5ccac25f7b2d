package a2apush

import (
	"cmp"
	"slices"

	"github.com/rethread/rethread/shared/domain/push"
)

// pushed is who is told of a task: all configurations in one item, so that to
// find them takes one read unit, and none is one too many. It has a partition
// beside the log's: what is secret in it is out of reach for who reads logs.
type pushed struct {
	PK      string                `dynamodbav:"PK"`
	SK      string                `dynamodbav:"SK"`
	User    string                `dynamodbav:"u,omitempty"`
	Session string                `dynamodbav:"s,omitempty"`
	Configs map[string]pushConfig `dynamodbav:"c,omitempty"`
	// Task is set instead of all else under the id of a run: the task whose run
	// it is.
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
