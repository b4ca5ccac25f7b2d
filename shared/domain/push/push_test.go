package push_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/push"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	whole := push.Config{
		ID: "c", URL: "https://example.com/?a=b", Token: "t t", Scheme: "Bearer", Credentials: "a b", Version: "1.0",
	}
	if err := whole.Validate(); err != nil {
		t.Errorf("refused: %v", err)
	}
	for name, change := range map[string]func(*push.Config){
		"no id":                               func(c *push.Config) { c.ID = "" },
		"an id with a slash":                  func(c *push.Config) { c.ID = "a/b" },
		"no address":                          func(c *push.Config) { c.URL = "" },
		"a long address":                      func(c *push.Config) { c.URL += strings.Repeat("a", push.MaxURL) },
		"a long token":                        func(c *push.Config) { c.Token = strings.Repeat("a", push.MaxToken+1) },
		"a token of two lines":                func(c *push.Config) { c.Token = "a\r\nX-Evil: b" },
		"a token that is invalid in a header": func(c *push.Config) { c.Token = "é" },
		"long credentials":                    func(c *push.Config) { c.Credentials = strings.Repeat("a", push.MaxCredentials+1) },
		"credentials of two lines":            func(c *push.Config) { c.Credentials = "a\nb" },
		"credentials for nothing":             func(c *push.Config) { c.Scheme = "" },
		"a scheme of two words":               func(c *push.Config) { c.Scheme = "Bearer x" },
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

func TestTarget(t *testing.T) {
	t.Parallel()
	log, task, id, ok := push.ParseTarget(push.Target("l", "t", "c"))
	if log != "l" || task != "t" || id != "c" || !ok {
		t.Errorf("got %q %q %q %v", log, task, id, ok)
	}
	other := push.Target("l", "t", "c")
	other.Kind = "webhook"
	if _, _, _, ok := push.ParseTarget(other); ok {
		t.Error("a target of another kind is taken for a configuration")
	}
}
