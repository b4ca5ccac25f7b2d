package sessions

import (
	"reflect"
	"strings"
)

// HeaderAttributes returns the attributes of a session's item, and the fields of the
// header that they are stored from.
func HeaderAttributes() map[string]string {
	out := map[string]string{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[header]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("dynamodbav"), ","); name != "" {
			out[name] = f.Name
		}
	}
	return out
}
