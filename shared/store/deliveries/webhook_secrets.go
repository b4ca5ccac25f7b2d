package deliveries

import (
	"context"
	"fmt"

	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// secretItem holds the secrets of one webhook. Only functions that sign with them,
// show them or delete them have access to its partition.
type secretItem struct {
	PK       string           `dynamodbav:"PK"`
	SK       string           `dynamodbav:"SK"`
	Current  string           `dynamodbav:"c"`
	Created  int64            `dynamodbav:"ct"`
	Previous []replacedSecret `dynamodbav:"p,omitempty"`
	Version  int64            `dynamodbav:"v"`
}

const secretVersion = "v"

type replacedSecret struct {
	Secret  string `dynamodbav:"s"`
	Expires int64  `dynamodbav:"x"`
}

// Secrets implements receiver.Webhooks.
func (s *Webhooks) Secrets(ctx context.Context, userID, id string) (receiver.Secrets, error) {
	var item secretItem
	found, err := s.base.DB.Get(ctx, secretKey(userID, id), &item)
	if err != nil {
		return receiver.Secrets{}, err
	}
	if !found {
		return receiver.Secrets{}, missingWebhook()
	}
	out := receiver.Secrets{Current: receiver.Secret(item.Current), CreatedTime: item.Created, Version: item.Version}
	for _, p := range item.Previous {
		out.Previous = append(out.Previous, receiver.PreviousSecret{Secret: receiver.Secret(p.Secret), ExpiresTime: p.Expires})
	}
	return out, nil
}

// RotateSecret implements receiver.Webhooks.
func (s *Webhooks) RotateSecret(ctx context.Context, userID, id string, r receiver.Rotation) (receiver.Secrets, error) {
	return records.ContendedValue(ctx, func() (receiver.Secrets, error) {
		was, err := s.Secrets(ctx, userID, id)
		if err != nil {
			return receiver.Secrets{}, err
		}
		next := was.Rotate(r, s.base.Now())
		unchanged := table.Equal(table.Path{secretVersion}, was.Version)
		if err := s.base.DB.Put(ctx, secretItemOf(userID, id, next), unchanged); err != nil {
			return receiver.Secrets{}, fmt.Errorf("put the secrets of webhook %s: %w", id, err)
		}
		return next, nil
	})
}

func secretItemOf(userID, id string, v receiver.Secrets) secretItem {
	k := secretKey(userID, id)
	item := secretItem{PK: k.PK, SK: k.SK, Current: string(v.Current), Created: v.CreatedTime, Version: v.Version}
	for _, p := range v.Previous {
		item.Previous = append(item.Previous, replacedSecret{Secret: string(p.Secret), Expires: p.ExpiresTime})
	}
	return item
}
