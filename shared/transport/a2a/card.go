package a2a

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/rethread/rethread/shared/base/fault"

	lib "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/rethread/rethread/shared/transport/a2a/a2aconvert"
	"github.com/rethread/rethread/shared/transport/gateway"
)

const (
	defaultAgent = "default"
	// cardAge is the Cache-Control value of cards and keys.
	cardAge = "public, max-age=300"
	bearer  = "bearer"
)

// inputModes returns the media types that messages may contain; a star matches
// any subtype.
func inputModes() []string {
	return []string{
		"text/plain", "text/*", "application/json", "application/pdf", "application/octet-stream",
		"image/*", "audio/*", "video/*",
	}
}

// cardWriter writes a card as JSON.
type cardWriter func(context.Context, *lib.AgentCard) ([]byte, error)

func (s *server) defaultCard(w http.ResponseWriter, r *http.Request) {
	s.versionedCard(w, r, defaultAgent)
}

func (s *server) agentCard(w http.ResponseWriter, r *http.Request) {
	s.versionedCard(w, r, s.AgentOf(r))
}

// versionedCard answers an agent's card; clients that do not ask for version
// 1.0 get the members of 0.3, too.
func (s *server) versionedCard(w http.ResponseWriter, r *http.Request, agent string) {
	w.Header().Add("Vary", versionHeader)
	write := cardWriter(bothVersions)
	if version(r) == current {
		write = oneVersion
	}
	s.card(w, r, agent, write)
}

func oneVersion(_ context.Context, card *lib.AgentCard) ([]byte, error) { return json.Marshal(card) }

// bothVersions writes the members of both versions. The library's own form of
// security schemes for both cannot be read by its clients of 1.0.
func bothVersions(ctx context.Context, card *lib.AgentCard) ([]byte, error) {
	producer, ok := a2av0.NewStaticAgentCardProducer(card).(a2asrv.AgentCardJSONProducer)
	if !ok {
		return nil, errors.New("the library cannot write cards for version 0.3")
	}
	raw, err := producer.CardJSON(ctx)
	if err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, fmt.Errorf("read the card of both versions: %w", err)
	}
	schemes := map[lib.SecuritySchemeName]bothSchemes{}
	for name, scheme := range card.SecuritySchemes {
		if current, ok := scheme.(lib.HTTPAuthSecurityScheme); ok {
			schemes[name] = bothSchemes{
				Type: "http", Scheme: current.Scheme, BearerFormat: current.BearerFormat, Current: current,
			}
		}
	}
	if members["securitySchemes"], err = json.Marshal(schemes); err != nil {
		return nil, fmt.Errorf("write the card's security schemes: %w", err)
	}
	return json.Marshal(members)
}

// bothSchemes is an HTTP security scheme with the members of versions 0.3 and
// 1.0.
type bothSchemes struct {
	Type         string                     `json:"type"`
	Scheme       string                     `json:"scheme"`
	BearerFormat string                     `json:"bearerFormat"`
	Current      lib.HTTPAuthSecurityScheme `json:"httpAuthSecurityScheme"`
}

func (s *server) card(w http.ResponseWriter, r *http.Request, agent string, write cardWriter) {
	// Public cards are of agents that everybody may call.
	if !s.Agents.HasAgent(agent) || !s.Agents.MayCall(r.Context(), agent) {
		refuse(w, fault.AgentNotFound, "no agent has this name")
		return
	}
	body, err := write(r.Context(), newCard(gateway.Base(r.Context()), agent, s.Push != nil))
	if err != nil {
		s.Log.ErrorContext(r.Context(), "write an agent card", "agent", agent, "error", err)
		refuse(w, fault.Internal, "Internal error.")
		return
	}
	sum := sha256.Sum256(body)
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", cardAge)
	header.Set("Etag", `"`+hex.EncodeToString(sum[:16])+`"`)
	http.ServeContent(w, r, "", s.Modified, bytes.NewReader(body))
}

func newCard(base, agent string, push bool) *lib.AgentCard {
	address := base + "/a2a/" + address(agent)
	var interfaces []*lib.AgentInterface
	for _, binding := range []lib.TransportProtocol{lib.TransportProtocolJSONRPC, lib.TransportProtocolHTTPJSON} {
		for _, v := range []lib.ProtocolVersion{current, legacy} {
			interfaces = append(interfaces, &lib.AgentInterface{
				URL: address, ProtocolBinding: binding, ProtocolVersion: v,
			})
		}
	}
	return &lib.AgentCard{
		Name: agent, Version: current,
		Description:         "The agent " + agent + ". Its conversations are kept, can be taken back and watched live.",
		SupportedInterfaces: interfaces,
		Capabilities: lib.AgentCapabilities{
			Streaming: true, PushNotifications: push, ExtendedAgentCard: true,
			Extensions: []lib.AgentExtension{rewindExtension()},
		},
		DefaultInputModes:  inputModes(),
		DefaultOutputModes: []string{"text/plain", "application/json", "application/octet-stream"},
		Skills: []lib.AgentSkill{{
			ID: "chat", Name: "Chat", Description: "Takes part in a conversation.", Tags: []string{"chat"},
		}},
		// No security requirements: libraries disagree on their format, and some
		// could not read the card at all.
		SecuritySchemes: lib.NamedSecuritySchemes{
			bearer: lib.HTTPAuthSecurityScheme{Scheme: "Bearer", BearerFormat: "JWT"},
		},
	}
}

// newExtendedCard returns the card for callers who are signed in: it also has
// what they can do with a conversation, and with which members of a message.
func newExtendedCard(base, agent string, push bool) *lib.AgentCard {
	card := newCard(base, agent, push)
	card.Capabilities.Extensions[0].Params = map[string]any{
		"rewindMetadata": a2aconvert.RewindKey, "invocationMetadata": a2aconvert.InvocationKey,
	}
	card.Skills = append(card.Skills,
		lib.AgentSkill{
			ID: "rewind", Name: "Rewind", Description: "Takes a conversation back to before one of its messages.",
			Tags: []string{"rewind", "history"}, Examples: []string{"Take back my last message."},
		},
		lib.AgentSkill{
			ID: "fork", Name: "Fork", Description: "Begins another conversation that shares a part of this one, over " + base + "/api/v1.",
			Tags: []string{"fork", "history"}, Examples: []string{"Try this from my second message on."},
		})
	return card
}
