package a2a_test

import (
	"net/http"
	"slices"
	"testing"

	lib "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
)

const rewindURI = "https://github.com/rethread/rethread/blob/main/docs/a2a-rewind.md#v1"

func TestExtendedCard(t *testing.T) {
	h := newPushServer(t)
	card, err := agentcard.NewResolver(nil).Resolve(t.Context(), h.server.URL+"/a2a/helper")
	if err != nil {
		t.Fatal(err)
	}
	if !card.Capabilities.ExtendedAgentCard || len(card.Skills) != 1 {
		t.Errorf("the public card is %+v", card)
	}
	for _, v := range []struct {
		binding lib.TransportProtocol
		version lib.ProtocolVersion
	}{{"JSONRPC", "1.0"}, {"HTTP+JSON", "1.0"}, {"JSONRPC", a2av0.Version}, {"HTTP+JSON", a2av0.Version}} {
		c := h.mustDial(t, alice, v.binding, v.version)
		got, err := c.GetExtendedAgentCard(t.Context(), &lib.GetExtendedAgentCardRequest{})
		if err != nil || got.Name != "helper" || !slices.ContainsFunc(got.Skills, func(s lib.AgentSkill) bool { return s.ID == "rewind" }) {
			t.Errorf("%s over %s: %+v, %v", v.version, v.binding, got, err)
			continue
		}
		extensions := got.Capabilities.Extensions
		if len(extensions) != 1 || extensions[0].URI != rewindURI || extensions[0].Params["rewindMetadata"] != "kagent_rewind_before_invocation_id" {
			t.Errorf("%s over %s: the extensions %+v", v.version, v.binding, extensions)
		}
	}
}

// The rewind is a declared extension: the card names it, and an answer says that
// it is active if the request asks for it.
func TestRewindExtension(t *testing.T) {
	card, err := agentcard.NewResolver(nil).Resolve(t.Context(), newPushServer(t).server.URL+"/a2a/helper")
	if err != nil || len(card.Capabilities.Extensions) != 1 || card.Capabilities.Extensions[0].URI != rewindURI || card.Capabilities.Extensions[0].Required {
		t.Errorf("%+v, %v", card, err)
	}
	for asked, want := range map[string]string{
		rewindURI: rewindURI, "urn:other, " + rewindURI: rewindURI, "urn:other": "", "": "",
	} {
		for _, name := range []string{lib.SvcParamExtensions, "X-A2A-Extensions"} {
			header := http.Header{"Content-Type": {"application/json"}}
			header.Set(name, asked)
			got := ask(t, http.MethodPost, "/a2a/helper", request("GetExtendedAgentCard", "{}"), header).Header().Get(name)
			if got != want {
				t.Errorf("%s: %s gets %q", name, asked, got)
			}
		}
	}
}
