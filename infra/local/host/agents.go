package host

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/rethread/rethread/infra/local/demoagent"
	"github.com/rethread/rethread/shared/client/agent/agentconfig"
)

const (
	// demoPace is the pause between two words of the demo agent, about the speed of a
	// model.
	demoPace = 25 * time.Millisecond
	demoName = "demo"
	// defaultName is the agent of sessions that name none.
	defaultName = "default"
)

// startDemoAgent serves an agent that needs no model and no key, so that runs can
// be tried at once.
func (s *System) startDemoAgent(ctx context.Context) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for the demo agent: %w", err)
	}
	s.demo = &http.Server{Handler: demoagent.New(demoagent.Options{Pace: demoPace}), ReadHeaderTimeout: readHeaderTimeout}
	s.demoURL = "http://" + listener.Addr().String()
	s.running.Go(func() {
		if err := s.demo.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.fail(fmt.Errorf("serve the demo agent: %w", err))
		}
	})
	return nil
}

// parameters are the template's parameters with their local values.
func (s *System) parameters() (map[string]string, error) {
	agents, err := s.agents()
	if err != nil {
		return nil, err
	}
	if agents, err = s.moveToParameterStore("AgentsParameter", agents, "{}"); err != nil {
		return nil, err
	}
	key, err := s.moveToParameterStore("AgentApiKeyParameter", s.opts.AgentAPIKey, "")
	if err != nil {
		return nil, err
	}
	headers, err := s.moveToParameterStore("OtlpHeadersParameter", s.opts.OtlpHeaders, "")
	if err != nil {
		return nil, err
	}
	s.headers = headers
	out := map[string]string{"JwtAudience": audience, "Agents": agents, "AgentApiKey": key}
	maps.Copy(out, s.opts.SignIn.parameters())
	more := map[string]string{"LogLevel": strings.ToUpper(s.opts.LogLevel), "RunLease": s.opts.RunLease}
	maps.Copy(more, s.opts.Parameters)
	for name, value := range more {
		if value != "" {
			out[name] = value
		}
	}
	return out, nil
}

// defaults are values of parameters that some templates do not declare.
func (s *System) defaults() map[string]string {
	return map[string]string{
		"JwtIssuer":      cmp.Or(s.opts.SignIn.Issuer, s.URL()+devPrefix),
		"LogAgentErrors": cmp.Or(s.opts.LogAgentErrors, "true"),
		"ServiceScope":   "rethread:service", "AgentSecretsPrefix": "/rethread/agents", "EventBusName": busName, "Metrics": cmp.Or(s.opts.Metrics, "off"), "OtlpEndpoint": s.opts.OtlpEndpoint, "OtlpHeaders": s.headers,
	}
}

// agents returns the configuration of the developer's agents and of the demo
// agent. The demo agent is the default unless the developer configures one of that
// name.
func (s *System) agents() (string, error) {
	all := map[string]json.RawMessage{}
	if s.opts.Agents != "" {
		if err := json.Unmarshal([]byte(s.opts.Agents), &all); err != nil {
			return "", fmt.Errorf("AGENTS must be a JSON object that maps names to agents: %w", err)
		}
		if _, err := agentconfig.Parse(s.opts.Agents, s.agentSecret); err != nil {
			return "", fmt.Errorf("AGENTS: %w", err)
		}
	}
	demo, err := json.Marshal(map[string]string{"type": "http", "url": s.demoURL})
	if err != nil {
		return "", fmt.Errorf("configure the demo agent: %w", err)
	}
	for _, name := range []string{demoName, defaultName} {
		if _, taken := all[name]; !taken {
			all[name] = demo
		}
	}
	text, err := json.Marshal(all)
	if err != nil {
		return "", fmt.Errorf("configure the agents: %w", err)
	}
	return string(text), nil
}

// agentSecret returns the secrets that the template passes to the function that calls
// agents.
func (s *System) agentSecret(variable string) (string, bool) {
	return s.opts.AgentAPIKey, variable == "AGENT_API_KEY" && s.opts.AgentAPIKey != ""
}
