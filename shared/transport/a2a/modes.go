package a2a

import (
	"context"
	"mime"
	"net/http"
	"strings"

	lib "github.com/a2aproject/a2a-go/v2/a2a"
)

// checkModes refuses parts whose media type the card does not list.
func checkModes(m *lib.Message) error {
	for _, p := range m.Parts {
		if p.MediaType != "" && !accepted(p.MediaType) {
			return lib.NewError(lib.ErrUnsupportedContentType, "no agent here takes parts of type "+p.MediaType)
		}
	}
	return nil
}

func accepted(mediaType string) bool {
	plain, _, err := mime.ParseMediaType(mediaType)
	if err != nil {
		return false
	}
	for _, mode := range inputModes() {
		if family, any := strings.CutSuffix(mode, "*"); mode == plain || any && strings.HasPrefix(plain, family) {
			return true
		}
	}
	return false
}

type unsupportedTypeKey struct{}

// withUnsupportedType marks a request whose body has an unsupported media type.
func withUnsupportedType(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), unsupportedTypeKey{}, true))
}

func hasUnsupportedType(ctx context.Context) bool {
	marked, _ := ctx.Value(unsupportedTypeKey{}).(bool)
	return marked
}

// isJSON reports whether the Content-Type is JSON or absent.
func isJSON(r *http.Request) bool {
	value := r.Header.Get("Content-Type")
	if value == "" {
		return true
	}
	plain, _, err := mime.ParseMediaType(value)
	return err == nil && (plain == "application/json" || strings.HasSuffix(plain, "+json"))
}
