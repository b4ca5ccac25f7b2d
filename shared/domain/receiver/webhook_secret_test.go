package receiver_test

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/receiver"
)

func TestParseSecret(t *testing.T) {
	t.Parallel()
	encoded := func(n int) string { return "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, n)) }
	for _, text := range []string{encoded(24), encoded(25), encoded(64)} {
		if got, err := receiver.ParseSecret(text); err != nil || string(got) != text {
			t.Errorf("%s: %s, %v", text, string(got), err)
		}
	}
	for name, text := range map[string]string{
		"nothing": "", "too short": encoded(23), "too long": encoded(65), "no prefix": strings.TrimPrefix(encoded(24), "whsec_"),
		"no base64": "whsec_" + strings.Repeat("!", 32), "no padding": strings.TrimRight(encoded(25), "="),
		"for URLs": "whsec_" + strings.Repeat("_-", 16), "of two lines": encoded(24) + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := receiver.ParseSecret(text)
			if !errors.Is(err, fault.Of(fault.Invalid)) || len(text) > 8 && strings.Contains(err.Error(), text) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestNewSecret(t *testing.T) {
	t.Parallel()
	a, err := receiver.NewSecret(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := receiver.NewSecret(rand.Reader); err != nil || a == b {
		t.Errorf("the same again, or %v", err)
	}
	if _, err := receiver.ParseSecret(string(a)); err != nil {
		t.Error(err)
	}
	if text := fmt.Sprint(a, receiver.Secrets{Current: a}); strings.Contains(text, string(a)) {
		t.Errorf("printed as %s", text)
	}
	if _, err := receiver.NewSecret(strings.NewReader("short")); err == nil {
		t.Error("made of too little")
	}
}

func TestRotate(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_000_000)
	s := receiver.Secrets{Current: "a", CreatedTime: 1, Version: 1}
	s = s.Rotate(receiver.Rotation{Next: "b"}, now)
	s = s.Rotate(receiver.Rotation{Next: "c"}, now.Add(time.Hour))
	for after, want := range map[time.Duration][]receiver.Secret{
		time.Hour:                             {"c", "b", "a"},
		receiver.KeepSecret:                   {"c", "b"},
		receiver.KeepSecret + time.Hour:       {"c"},
		receiver.KeepSecret - 1:               {"c", "b", "a"},
		365 * 24 * time.Hour:                  {"c"},
		receiver.KeepSecret + time.Hour - 1e6: {"c", "b"},
	} {
		if diff := cmp.Diff(want, s.At(now.Add(after))); diff != "" {
			t.Errorf("after %s (-want +got):\n%s", after, diff)
		}
	}
	revoked := s.Rotate(receiver.Rotation{Next: "d", Revoke: true}, now.Add(time.Hour))
	if diff := cmp.Diff([]receiver.Secret{"d"}, revoked.At(now.Add(time.Hour))); diff != "" || revoked.Version != 4 {
		t.Errorf("revoked (-want +got):\n%s", diff)
	}
	for i := range 10 {
		s = s.Rotate(receiver.Rotation{Next: receiver.Secret(fmt.Sprint(i))}, now.Add(time.Hour))
	}
	if got := s.At(now.Add(time.Hour)); len(got) != 5 || got[0] != "9" || got[4] != "5" {
		t.Errorf("of many, %d are kept", len(got))
	}
}
