package receiver_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/receiver"
)

func TestPushConfig_Validate(t *testing.T) {
	t.Parallel()
	whole := receiver.PushConfig{
		ID: "c", URL: "https://example.com/?a=b", Token: "t t", Scheme: "Bearer", Credentials: "a b", Version: "1.0",
	}
	if err := whole.Validate(); err != nil {
		t.Errorf("refused: %v", err)
	}
	for name, change := range map[string]func(*receiver.PushConfig){
		"no id":                               func(c *receiver.PushConfig) { c.ID = "" },
		"an id with a slash":                  func(c *receiver.PushConfig) { c.ID = "a/b" },
		"no address":                          func(c *receiver.PushConfig) { c.URL = "" },
		"a long address":                      func(c *receiver.PushConfig) { c.URL += strings.Repeat("a", receiver.MaxURL) },
		"a long token":                        func(c *receiver.PushConfig) { c.Token = strings.Repeat("a", receiver.MaxPushToken+1) },
		"a token of two lines":                func(c *receiver.PushConfig) { c.Token = "a\r\nX-Evil: b" },
		"a token that is invalid in a header": func(c *receiver.PushConfig) { c.Token = "é" },
		"long credentials":                    func(c *receiver.PushConfig) { c.Credentials = strings.Repeat("a", receiver.MaxPushCredentials+1) },
		"credentials of two lines":            func(c *receiver.PushConfig) { c.Credentials = "a\nb" },
		"credentials for nothing":             func(c *receiver.PushConfig) { c.Scheme = "" },
		"a scheme of two words":               func(c *receiver.PushConfig) { c.Scheme = "Bearer x" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := whole
			change(&c)
			err := c.Validate()
			if !errors.Is(err, fault.Of(fault.Invalid)) && !errors.Is(err, fault.Of(fault.Malformed)) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestPushTarget(t *testing.T) {
	t.Parallel()
	log, task, id, ok := receiver.ParsePush(receiver.PushTarget("l", "t", "c"))
	if log != "l" || task != "t" || id != "c" || !ok {
		t.Errorf("got %q %q %q %v", log, task, id, ok)
	}
	other := receiver.PushTarget("l", "t", "c")
	other.Kind = "webhook"
	if _, _, _, ok := receiver.ParsePush(other); ok {
		t.Error("a target of another kind is taken for a configuration")
	}
}
