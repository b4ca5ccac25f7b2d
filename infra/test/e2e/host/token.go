package host

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Token gets a development token for the user from the system at url.
func Token(ctx context.Context, url, user string) (string, error) {
	return token(ctx, url, map[string]any{"user_id": user})
}

// TokenFor gets a development token with the given lifetime; a negative one gives
// an expired token.
func TokenFor(ctx context.Context, url, user string, life time.Duration) (string, error) {
	return token(ctx, url, map[string]any{"user_id": user, "expires_in": int(life.Seconds())})
}

// TokenWith gets a development token with the given scope.
func TokenWith(ctx context.Context, url, user, scope string) (string, error) {
	return token(ctx, url, map[string]any{"user_id": user, "scope": scope})
}

func token(ctx context.Context, url string, wish map[string]any) (string, error) {
	body, err := json.Marshal(wish)
	if err != nil {
		return "", fmt.Errorf("get a development token: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/dev/token", bytes.NewReader(body))
	if err != nil {
		return "", fmt.Errorf("get a development token: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", fmt.Errorf("get a development token: %w", err)
	}
	defer res.Body.Close() //nolint:errcheck // read to its end below
	var answer struct {
		Token string `json:"token"`
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || answer.Token == "" {
		return "", fmt.Errorf("get a development token: %s without a token (%w)", res.Status, err)
	}
	return answer.Token, nil
}
