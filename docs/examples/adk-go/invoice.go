package main

import (
	"context"

	"google.golang.org/adk/v2/artifact"
)

// invoice returns the text of the newest invoice.
func (c *chat) invoice(ctx context.Context) (string, error) {
	loaded, err := c.services.Artifacts.Load(ctx, &artifact.LoadRequest{
		AppName: app, UserID: c.user, SessionID: c.id, FileName: "invoice.txt",
	})
	if err != nil {
		return "", err
	}
	return loaded.Part.Text, nil
}
