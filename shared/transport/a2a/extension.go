package a2a

import (
	"net/http"
	"slices"
	"strings"

	lib "github.com/a2aproject/a2a-go/v2/a2a"
)

// rewindURI identifies the extension by which a message rewinds its context. The
// page is its specification; the fragment is its version.
const rewindURI = "https://github.com/rethread/rethread/blob/main/docs/a2a-rewind.md#v1"

// legacyExtensions is the name of the header of extensions in version 0.3.
const legacyExtensions = "X-A2A-Extensions"

func rewindExtension() lib.AgentExtension {
	return lib.AgentExtension{
		URI:         rewindURI,
		Description: "A message can take its context back to before an invocation, instead of calling the agent.",
	}
}

// activateExtensions names in the answer the extensions that the request asks
// for and this server has, under the header's name in each version. Extensions
// work without that, too.
func activateExtensions(w http.ResponseWriter, r *http.Request) {
	for _, header := range []string{lib.SvcParamExtensions, legacyExtensions} {
		var asked []string
		for _, value := range r.Header.Values(header) {
			for uri := range strings.SplitSeq(value, ",") {
				asked = append(asked, strings.TrimSpace(uri))
			}
		}
		if slices.Contains(asked, rewindURI) {
			w.Header().Set(header, rewindURI)
		}
	}
}
