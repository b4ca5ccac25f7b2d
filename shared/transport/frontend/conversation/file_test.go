package conversation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

func TestFiles(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"aGk=": true, "aGk": true, "_-8=": true, "/+8=": true, "aGkh": true, "": false, "a": false, "%%%": false, "aG k": false, "aGk==": false, "=": false,
	} {
		if _, err := conversation.Data("/at", text, "", ""); (err == nil) != want {
			t.Errorf("%q as base64: %v", text, err)
		}
		if _, err := conversation.File("/at", "data:;base64,"+text, "", ""); (err == nil) != want {
			t.Errorf("%q in a data URL: %v", text, err)
		}
	}
	for text, want := range map[string]bool{
		"https://a.example/b.png?c=d": true, "http://127.0.0.1:1/x": true, "gs://bucket/a": true, "artifact://session/s/a/1": true,
		"": false, "x": false, "/a.png": false, "https://": false, "https:///a": false, "not an address": false, "https://a.example/b c": false, "x:": false,
		"data:,plain": false, "data:text/plain,aGk=": false,
	} {
		if _, err := conversation.File("/at", text, "", ""); (err == nil) != want {
			t.Errorf("%q as an address: %v", text, err)
		}
	}
}

func TestMediaTypesOfFiles(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"data:image/png;base64,aGk%3D": "image/png", "data:text/plain;charset=utf-8;base64,aGk=": "text/plain", "data:;base64,aGk=": "",
	} {
		for given, want := range map[string]string{"": want, "text/csv": "text/csv"} {
			got, err := conversation.File("/at", address, given, "a.csv")
			if diff := cmp.Diff(content.Data(want, "aGk=", "a.csv"), got, cmp.AllowUnexported(content.Part{})); err != nil || diff != "" {
				t.Errorf("%s given as %q: %v %s", address, given, err, diff)
			}
		}
		if got := conversation.MediaType(address); got != want {
			t.Errorf("%s has the type %q", address, got)
		}
	}
	if got := conversation.MediaType("https://a.example/data:image/png"); got != "" {
		t.Errorf("an address has the type %q", got)
	}
}
