package artifact_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/artifact"
)

func TestCheckName(t *testing.T) {
	for name, ok := range map[string]bool{
		"report.pdf": true, "user:profile.png": true, "a b": true, "...": true, "Ünïcode 😀": true,
		"user": true, "user:user:x": true, strings.Repeat("😀", 128): true,
		"": false, ".": false, "..": false, "a/b": false, "/": false, "user:": false, "user:..": false, "user:a/b": false,
		"a\x00": false, "a\nb": false, "\xff": false, strings.Repeat("😀", 129): false, strings.Repeat("😀", 256): false,
	} {
		err := artifact.CheckName("name", name)
		if (err == nil) != ok || err != nil && !errors.Is(err, fault.Of(fault.Invalid)) {
			t.Errorf("%q: got %v, want ok: %v", name, err, ok)
		}
	}
}

func TestParseReference(t *testing.T) {
	for name, c := range map[string]struct {
		list string
		want *artifact.Target
	}{
		"of a session":         {"artifact://session/s1/a.txt/3", &artifact.Target{SessionID: "s1", Name: "a.txt", Version: 3}},
		"of a user":            {"artifact://user/a.txt/0", &artifact.Target{Name: "user:a.txt"}},
		"of a user, prefixed":  {"artifact://user/user:a.txt/0", &artifact.Target{Name: "user:a.txt"}},
		"of a user, a session": {"artifact://session/s/user:a/1", &artifact.Target{SessionID: "s", Name: "user:a", Version: 1}},
		"percent-encoded":      {"artifact://session/a%20b/50%25%3F/0", &artifact.Target{SessionID: "a b", Name: "50%?"}},
		"a line and a comment": {"# moved\r\nARTIFACT://session/s/a/0\r\n", &artifact.Target{SessionID: "s", Name: "a"}},
		"elsewhere":            {"gs://bucket/key", nil},
		"several, elsewhere":   {"https://a.example/x\r\ns3://b/y\r\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := artifact.ParseReference([]byte(c.list))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for _, list := range []string{
		"", "# nothing", "relative/path", "\xff", "artifact://session/s/a", "artifact://session/s/a/0/1",
		"artifact://user/s/a/0", "artifact://app/a/0", "artifact://session/s/a/-1", "artifact://session/s/a/x",
		"artifact://session/s/a/1000000000", "artifact://session/s/a/0?v=1", "artifact://session/s/a/0#x",
		"artifact://session/s/%2E%2E/0", "artifact://session/s/a%2Fb/0", "artifact://session//a/0",
		"artifact://session/s/a/0\nhttps://a.example", "artifact://user//0",
	} {
		if got, err := artifact.ParseReference([]byte(list)); !errors.Is(err, fault.Of(fault.Invalid)) {
			t.Errorf("%q: got %+v, %v; want it refused", list, got, err)
		}
	}
}

func TestTargetURI(t *testing.T) {
	for _, want := range []artifact.Target{
		{SessionID: "a b%ü", Name: "x?#.txt", Version: 7},
		{Name: "user:50%"},
		{SessionID: "s", Name: "user:x", Version: 1},
	} {
		got, err := artifact.ParseReference([]byte(want.URI()))
		if err != nil {
			t.Fatalf("%s: %v", want.URI(), err)
		}
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", want.URI(), diff)
		}
	}
}
