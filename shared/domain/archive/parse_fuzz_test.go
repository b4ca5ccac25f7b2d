package archive_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/archive"
)

// FuzzParse checks that a document is parsed or refused as the caller's mistake, in
// words other than Go's.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"format":"` + archive.Format + `","session":{"id":"s","app_name":"a","created_time":1},"events":[{"id":"e","seq":1,"invocation_id":"i","author":"a","created_time":2,"content":{"parts":[]}}],"tasks":[],"feedback":[],"artifacts":[],"state":{"session":{"k":1},"user":{},"app":{}},"complete":true}`,
		`{"format":"` + archive.Format + `","artifacts":[{"name":"f","version":0,"mime_type":"text/plain","data":"eA=="}]}`,
		`{"format":"` + archive.Format + `","tasks":[{"seq":1,"task":{"task_id":"t","user_message":"m","message_bubbles":[]}}]}`,
		`{"format":"` + archive.Format + `","events":[null]}`, `{"format":1}`, `[]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !utf8.Valid(raw) { // such a body is refused earlier
			return
		}
		_, err := archive.Parse(raw)
		var refused *fault.Error
		switch {
		case err == nil:
		case !errors.As(err, &refused):
			t.Errorf("%s: %v is not the caller's fault", raw, err)
		case strings.Contains(refused.Error(), "Go "):
			t.Errorf("%s: %v", raw, err)
		}
	})
}
