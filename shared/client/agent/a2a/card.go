package a2a

import (
	"slices"
	"strings"

	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
)

// peer is how an agent is spoken to, by its card.
type peer struct {
	url       string
	old       bool // version 0.3
	tenant    string
	streaming bool
}

// card has the members of a card of both versions.
type card struct {
	Interfaces []struct {
		URL     string `json:"url"`
		Binding string `json:"protocolBinding"`
		Version string `json:"protocolVersion"`
		Tenant  string `json:"tenant"`
	} `json:"supportedInterfaces"`
	Capabilities struct {
		Streaming bool `json:"streaming"`
	} `json:"capabilities"`
	// The members below are those of 0.3.
	URL        string `json:"url"`
	Preferred  string `json:"preferredTransport"`
	Version    string `json:"protocolVersion"`
	Additional []struct {
		URL       string `json:"url"`
		Transport string `json:"transport"`
	} `json:"additionalInterfaces"`
}

// offer is one way to speak to an agent.
type offer struct{ url, binding, version, tenant string }

func (c card) offers() []offer {
	var all []offer
	for _, i := range c.Interfaces {
		all = append(all, offer{i.URL, i.Binding, i.Version, i.Tenant})
	}
	if c.URL != "" {
		binding := c.Preferred
		if binding == "" {
			binding = jsonRPC
		}
		all = append(all, offer{c.URL, binding, c.Version, ""})
	}
	for _, i := range c.Additional {
		all = append(all, offer{i.URL, i.Transport, c.Version, ""})
	}
	return all
}

const jsonRPC = "JSONRPC"

// choose returns the best way to speak to the agent at an address: JSON-RPC in the
// newest version, and only at that address's host, which gets the secrets.
func (c card) choose(address string) (*peer, error) {
	var best *peer
	var others []string
	for _, o := range c.offers() {
		old := strings.HasPrefix(o.version, "0.3")
		switch {
		case o.binding != jsonRPC || !old && !strings.HasPrefix(o.version, "1."):
			others = append(others, o.binding+" "+o.version)
		case !agentconfig.SameOrigin(o.url, address):
			others = append(others, "JSONRPC at another host")
		case best == nil || best.old && !old:
			best = &peer{url: o.url, old: old, tenant: o.tenant, streaming: c.Capabilities.Streaming}
		}
	}
	if best != nil {
		return best, nil
	}
	offered := "nothing"
	if len(others) > 0 {
		offered = endpoint.Excerpt(strings.Join(slices.Compact(others), ", "))
	}
	return nil, endpoint.NewError(endpoint.CodeCard, "the agent's card offers %s; needed is JSONRPC of version 1.0 or 0.3 at the configured host", offered)
}
