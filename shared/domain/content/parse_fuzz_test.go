package content_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/rethread/rethread/shared/domain/content"
)

// FuzzParse checks that any text can be read as a content, and that valid JSON is written as
// it came, without its white space.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"role":"model","parts":[{"text":"a","thought":true},{"function_call":{"id":"1","name":"f","args":{"n":1.0}}}]}`,
		`{"role":5,"parts":{"inline_data":{"data":"_-8"}},"x":[1e400]}`, ` { "parts" : [ null , "t" , {"file_data":[]} ] } `,
		`{"parts":[{"text":`, `[{0`, `"\ud800"`, `null`, ``, `{"parts":[{"function_response":{"name":7}}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, _ := content.Parse(raw)
		if content.RoleOf(raw) != c.Role && json.Valid(raw) {
			t.Errorf("the role of %s is %q and %q", raw, c.Role, content.RoleOf(raw))
		}
		written, err := c.JSON()
		var want bytes.Buffer
		if json.Compact(&want, raw) != nil || want.String() == "null" {
			return
		}
		if err != nil || !bytes.Equal(written, want.Bytes()) {
			t.Errorf("%s is written as %s, %v", raw, written, err)
		}
	})
}
