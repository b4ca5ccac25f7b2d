package agent

import (
	"net/url"
	"slices"
	"strings"
)

// a2aPeer is how an agent is spoken to, by its card.
type a2aPeer struct {
	url       string
	old       bool // version 0.3
	tenant    string
	streaming bool
}

// a2aCard has the members of a card of both versions.
type a2aCard struct {
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

// a2aOffer is one way to speak to an agent.
type a2aOffer struct{ url, binding, version, tenant string }

func (c a2aCard) offers() []a2aOffer {
	var all []a2aOffer
	for _, i := range c.Interfaces {
		all = append(all, a2aOffer{i.URL, i.Binding, i.Version, i.Tenant})
	}
	if c.URL != "" {
		binding := c.Preferred
		if binding == "" {
			binding = jsonRPC
		}
		all = append(all, a2aOffer{c.URL, binding, c.Version, ""})
	}
	for _, i := range c.Additional {
		all = append(all, a2aOffer{i.URL, i.Transport, c.Version, ""})
	}
	return all
}

const jsonRPC = "JSONRPC"

// choose returns the best way to speak to the agent at an address: JSON-RPC in the
// newest version, and only at that address's host, which gets the secrets.
func (c a2aCard) choose(address string) (*a2aPeer, error) {
	var best *a2aPeer
	var others []string
	for _, o := range c.offers() {
		old := strings.HasPrefix(o.version, "0.3")
		switch {
		case o.binding != jsonRPC || !old && !strings.HasPrefix(o.version, "1."):
			others = append(others, o.binding+" "+o.version)
		case !sameOrigin(o.url, address):
			others = append(others, "JSONRPC at another host")
		case best == nil || best.old && !old:
			best = &a2aPeer{url: o.url, old: old, tenant: o.tenant, streaming: c.Capabilities.Streaming}
		}
	}
	if best != nil {
		return best, nil
	}
	offered := "nothing"
	if len(others) > 0 {
		offered = clean(strings.Join(slices.Compact(others), ", "), maxExcerpt)
	}
	return nil, newError(CodeCard, "the agent's card offers %s; needed is JSONRPC of version 1.0 or 0.3 at the configured host", offered)
}

// sameOrigin reports whether two addresses have the same scheme, host and port.
func sameOrigin(a, b string) bool {
	one, err := url.Parse(a)
	other, otherErr := url.Parse(b)
	return err == nil && otherErr == nil && one.Host != "" && one.User == nil &&
		one.Scheme == other.Scheme && strings.EqualFold(hostOf(one), hostOf(other))
}

func hostOf(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	return u.Host + map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
}
