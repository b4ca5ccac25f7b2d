package deliveries

import (
	"cmp"
	"slices"

	"github.com/rethread/rethread/shared/domain/receiver"
)

// pushesItem holds all push configurations of a task in one item, so that reading them
// takes one read unit and one condition limits their number. Configurations have
// credentials, hence a partition of their own, which few functions may read.
type pushesItem struct {
	PK      string                `dynamodbav:"PK"`
	SK      string                `dynamodbav:"SK"`
	User    string                `dynamodbav:"u"`
	Session string                `dynamodbav:"s"`
	Configs map[string]pushConfig `dynamodbav:"c"`
}

type pushConfig struct {
	URL         string `dynamodbav:"u"`
	Token       string `dynamodbav:"t,omitempty"`
	Scheme      string `dynamodbav:"s,omitempty"`
	Credentials string `dynamodbav:"c,omitempty"`
	Version     string `dynamodbav:"v"`
	Since       int64  `dynamodbav:"ct,omitempty"`
}

// pushList names the configurations of a task, for functions that find the receivers of
// an event or delete a session. Each write of pushesItem writes it too, in one transaction.
type pushList struct {
	PK string `dynamodbav:"PK"`
	SK string `dynamodbav:"SK"`
	// Since is pushConfig.Since by the id of the configuration.
	Since map[string]int64 `dynamodbav:"c,omitempty"`
	// Task is set instead under the id of a run: the task that the run belongs to.
	Task string `dynamodbav:"t,omitempty"`
}

const (
	attrConfigs   = "c" // of pushesItem and of pushList
	pushConfigURL = "u" // of a pushConfig
)

func (p pushesItem) configs() []receiver.PushConfig {
	out := make([]receiver.PushConfig, 0, len(p.Configs))
	for id, c := range p.Configs {
		out = append(out, c.config(id))
	}
	slices.SortFunc(out, func(a, b receiver.PushConfig) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

func (c pushConfig) config(id string) receiver.PushConfig {
	return receiver.PushConfig{
		ID: id, URL: c.URL, Token: c.Token, Scheme: c.Scheme, Credentials: c.Credentials, Version: c.Version, Since: c.Since,
	}
}
