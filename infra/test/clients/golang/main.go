// Command golang plays stories with the official Go clients, a2a-go and the remote
// agent of adk-go, against the system at RETHREAD_URL. Both find the agent by its
// card, in each version and over each binding. It is run by infra/test/clients.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/infra/test/e2e/host"
)

// said is what the scripted agent answers to "hello".
const said = `You said: "hello". That is all.`

// wait bounds one request.
const wait = 5 * time.Minute

func main() {
	r := &report{}
	if err := play(context.Background(), os.Getenv("RETHREAD_URL"), r); err != nil {
		r.fail(err.Error())
	}
	if !r.end(os.Stdout) {
		os.Exit(1)
	}
}

// speaking is a way to speak to an agent that its card offers.
type speaking struct {
	name    string
	card    *a2a.AgentCard
	factory *a2aclient.Factory
}

func play(ctx context.Context, url string, r *report) error {
	token, err := host.Token(ctx, url, "user-"+uuid.NewString())
	if err != nil {
		return err
	}
	ways, err := waysToSpeak(ctx, url+"/a2a/scripted", &http.Client{Timeout: wait, Transport: withToken(token)})
	if err != nil {
		return err
	}
	var playing errgroup.Group
	for _, way := range ways {
		playing.Go(func() error { return playA2A(ctx, r, way) })
		playing.Go(func() error { return playADK(ctx, r, way, true, ways[0]) })
		playing.Go(func() error { return playADK(ctx, r, way, false, ways[0]) })
	}
	return playing.Wait()
}

// withToken adds a token to each request: the card names the scheme, but requires
// none, so a2a-go's own interceptor adds nothing.
type withToken string

func (token withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(token))
	return http.DefaultTransport.RoundTrip(r)
}

// waysToSpeak resolves the card of an agent in both versions, without a token.
func waysToSpeak(ctx context.Context, agent string, hc *http.Client) ([]speaking, error) {
	var out []speaking
	nobody := &http.Client{Timeout: wait}
	old := agentcard.NewResolver(nobody)
	old.CardParser = a2av0.NewAgentCardParser()
	versions := []struct {
		name     string
		resolver *agentcard.Resolver
		options  []a2aclient.FactoryOption
	}{
		{"1.0", agentcard.NewResolver(nobody), []a2aclient.FactoryOption{
			a2aclient.WithJSONRPCTransport(hc), a2aclient.WithRESTTransport(hc),
		}},
		{"0.3", old, []a2aclient.FactoryOption{
			a2aclient.WithDefaultsDisabled(),
			a2av0.WithJSONRPCTransport(a2av0.JSONRPCTransportConfig{Client: hc}),
			a2av0.WithRESTTransport(a2av0.RESTTransportConfig{Client: hc}),
		}},
	}
	for _, version := range versions {
		card, err := version.resolver.Resolve(ctx, agent)
		if err != nil {
			return nil, fmt.Errorf("resolve the card as %s: %w", version.name, err)
		}
		for _, binding := range []a2a.TransportProtocol{a2a.TransportProtocolJSONRPC, a2a.TransportProtocolHTTPJSON} {
			options := append([]a2aclient.FactoryOption{
				a2aclient.WithConfig(a2aclient.Config{PreferredTransports: []a2a.TransportProtocol{binding}}),
			}, version.options...)
			out = append(out, speaking{
				fmt.Sprintf("%s over %s", version.name, binding), card, a2aclient.NewFactory(options...),
			})
		}
	}
	return out, nil
}
