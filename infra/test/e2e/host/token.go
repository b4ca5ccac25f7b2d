package host

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Advance advances the clock of the system at url, by whole seconds.
func Advance(ctx context.Context, url string, by time.Duration) error {
	return ask(ctx, url+"/dev/clock", map[string]any{"advance_seconds": int64(by.Seconds())}, &struct{}{})
}

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
	var answer struct {
		Token string `json:"token"`
	}
	err := ask(ctx, url+"/dev/token", wish, &answer)
	return answer.Token, err
}

// ask sends a wish to the local host.
func ask(ctx context.Context, url string, wish map[string]any, answer any) error {
	body, err := json.Marshal(wish)
	if err != nil {
		return fmt.Errorf("ask %s: %w", url, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("ask %s: %w", url, err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("ask %s: %w", url, err)
	}
	defer res.Body.Close() //nolint:errcheck // read to its end below
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		return fmt.Errorf("ask %s: %s %s (%w)", url, res.Status, text, err)
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("ask %s: %w", url, err)
	}
	return nil
}
