package sessions

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/domain/webhook"
)

// secretItem is the secrets of one webhook. Its partition is closed to all
// functions but those that sign with them, hand them out and delete them.
type secretItem struct {
	PK       string           `dynamodbav:"PK"`
	SK       string           `dynamodbav:"SK"`
	Current  string           `dynamodbav:"c"`
	Created  int64            `dynamodbav:"ct"`
	Previous []replacedSecret `dynamodbav:"p,omitempty"`
	Version  int64            `dynamodbav:"v"`
}

type replacedSecret struct {
	Secret  string `dynamodbav:"s"`
	Expires int64  `dynamodbav:"x"`
}

// Secrets implements webhook.Store.
func (s *Store) Secrets(ctx context.Context, userID, id string) (webhook.Secrets, error) {
	var item secretItem
	found, err := s.get(ctx, webhookSecretKey(userID, id), &item)
	if err != nil {
		return webhook.Secrets{}, err
	}
	if !found {
		return webhook.Secrets{}, missingWebhook()
	}
	out := webhook.Secrets{Current: webhook.Secret(item.Current), CreatedTime: item.Created, Version: item.Version}
	for _, p := range item.Previous {
		out.Previous = append(out.Previous, webhook.Previous{Secret: webhook.Secret(p.Secret), ExpiresTime: p.Expires})
	}
	return out, nil
}

// RotateSecret implements webhook.Store.
func (s *Store) RotateSecret(ctx context.Context, userID, id string, r webhook.Rotation) (webhook.Secrets, error) {
	for try := 0; ; try++ {
		was, err := s.Secrets(ctx, userID, id)
		if err != nil {
			return webhook.Secrets{}, err
		}
		next := was.Rotate(r, s.now())
		err = s.put(ctx, secretItemOf(userID, id, next), condition{
			expression: "#v = :v", names: map[string]string{"#v": "v"}, values: attributes{":v": num(was.Version)},
		}, nil)
		if err == nil {
			return next, nil
		}
		if !errors.Is(err, errTaken) {
			return webhook.Secrets{}, fmt.Errorf("put the secrets of webhook %s: %w", id, err)
		}
		if err := afterConflict(ctx, try); err != nil {
			return webhook.Secrets{}, err
		}
	}
}

func secretItemOf(userID, id string, v webhook.Secrets) secretItem {
	k := webhookSecretKey(userID, id)
	item := secretItem{PK: k.pk, SK: k.sk, Current: string(v.Current), Created: v.CreatedTime, Version: v.Version}
	for _, p := range v.Previous {
		item.Previous = append(item.Previous, replacedSecret{Secret: string(p.Secret), Expires: p.ExpiresTime})
	}
	return item
}
