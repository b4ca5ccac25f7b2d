package conversation_test

import (
	"testing"

	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

func TestFiles(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"aGk=": true, "aGk": true, "_-8=": true, "/+8=": true, "aGkh": true, "": false, "a": false, "%%%": false, "aG k": false, "aGk==": false, "=": false,
	} {
		if got := conversation.IsBase64(text); got != want {
			t.Errorf("%q is base64: %v", text, got)
		}
	}
	for text, want := range map[string]bool{
		"https://a.example/b.png?c=d": true, "http://127.0.0.1:1/x": true, "gs://bucket/a": true, "artifact://session/s/a/1": true,
		"": false, "x": false, "/a.png": false, "https://": false, "https:///a": false, "not an address": false, "https://a.example/b c": false, "x:": false,
	} {
		if got := conversation.IsAddress(text); got != want {
			t.Errorf("%q is an address: %v", text, got)
		}
	}
}
