// Command adk-go is an Agent Development Kit agent that stores its sessions and
// artifacts in Rethread. It takes two orders for flowers, rewinds the second, and
// takes another:
//
//	RETHREAD_URL=http://127.0.0.1:3000 RETHREAD_TOKEN=… go run ./docs/examples/adk-go
//
// RETHREAD_USER is the subject of the token, by default "alice". The model is a
// script, so that the example needs no API key; replace it with any ADK model.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"

	"github.com/rethread/rethread/clients/go/adk"
)

const app = "florist"

func main() {
	user := os.Getenv("RETHREAD_USER")
	if user == "" {
		user = "alice"
	}
	err := run(context.Background(), os.Getenv("RETHREAD_URL"), os.Getenv("RETHREAD_TOKEN"), user, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, url, token, user string, out io.Writer) error {
	services, err := adk.NewRemote(adk.Remote{
		URL:   url,
		Token: func(context.Context, string) (string, error) { return token, nil },
	})
	if err != nil {
		return err
	}
	order, err := functiontool.New(functiontool.Config{Name: "order", Description: "Orders flowers."}, order)
	if err != nil {
		return err
	}
	florist, err := llmagent.New(llmagent.Config{Name: "florist", Model: script{}, Tools: []tool.Tool{order}})
	if err != nil {
		return err
	}
	shop, err := runner.New(runner.Config{
		AppName: app, Agent: florist, SessionService: services.Sessions, ArtifactService: services.Artifacts,
	})
	if err != nil {
		return err
	}
	made, err := services.Sessions.Create(ctx, &session.CreateRequest{AppName: app, UserID: user})
	if err != nil {
		return err
	}
	c := chat{services, shop, user, made.Session.ID(), out}
	return c.play(ctx)
}

// ordered is the tool's argument and result.
type ordered struct {
	Flowers string `json:"flowers"`
}

// order stores the flowers in the session's state and saves an invoice.
func order(ctx agent.Context, o ordered) (ordered, error) {
	if err := ctx.State().Set("flowers", o.Flowers); err != nil {
		return o, err
	}
	_, err := ctx.Artifacts().Save(ctx, "invoice.txt", genai.NewPartFromText("1 bunch of "+o.Flowers))
	return o, err
}

// chat is a user's session with an agent.
type chat struct {
	services *adk.Services
	runner   *runner.Runner
	user, id string
	out      io.Writer
}

// play tells the story: two orders, a rewind to before the second, a third order.
func (c *chat) play(ctx context.Context) error {
	if _, err := c.say(ctx, "roses"); err != nil {
		return err
	}
	second, err := c.say(ctx, "tulips")
	if err != nil {
		return err
	}
	_, err = c.services.Sessions.Rewind(ctx, &adk.RewindRequest{
		AppName: app, UserID: c.user, SessionID: c.id, BeforeInvocationID: second,
	})
	if err != nil {
		return err
	}
	if err := c.show(ctx, "after the rewind"); err != nil {
		return err
	}
	if _, err := c.say(ctx, "lilies"); err != nil {
		return err
	}
	return c.show(ctx, "in the end")
}

// say runs the agent with the user's message and returns the invocation's id.
func (c *chat) say(ctx context.Context, text string) (invocation string, err error) {
	message := genai.NewContentFromText(text, genai.RoleUser)
	for event, err := range c.runner.Run(ctx, c.user, c.id, message, agent.RunConfig{}) {
		if err != nil {
			return "", err
		}
		invocation = event.InvocationID
		if event.IsFinalResponse() && event.Content != nil {
			if _, err := fmt.Fprintf(c.out, "%s: %s\n", text, event.Content.Parts[0].Text); err != nil {
				return "", err
			}
		}
	}
	if invocation == "" {
		return "", errors.New("the agent returned no events")
	}
	return invocation, nil
}

// show prints the session's events, state and invoice.
func (c *chat) show(ctx context.Context, when string) error {
	got, err := c.services.Sessions.Get(ctx, &session.GetRequest{AppName: app, UserID: c.user, SessionID: c.id})
	if err != nil {
		return err
	}
	flowers, err := got.Session.State().Get("flowers")
	if err != nil {
		return err
	}
	invoice, err := c.invoice(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.out, "%s: %d events, state %v, invoice %q\n", when, got.Session.Events().Len(), flowers, invoice)
	return err
}
