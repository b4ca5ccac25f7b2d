package stores_test

import (
	"reflect"
	"strings"

	"github.com/rethread/rethread/shared/store/sessions"
)

// headerAttributes returns the attributes of a session's item, and the fields of the
// header that they are stored from.
func headerAttributes() map[string]string {
	out := map[string]string{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[sessions.Header]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("dynamodbav"), ","); name != "" && name != "-" {
			out[name] = f.Name
		}
	}
	return out
}
