package tokens_test

import (
	"errors"
	"net/http"
	"net/url"
	"testing"

	"github.com/rethread/rethread/shared/client/tokens"
)

func TestCarried(t *testing.T) {
	authorization := func(values ...string) http.Header { return http.Header{"Authorization": values} }
	protocols := func(values ...string) http.Header { return http.Header{"Sec-Websocket-Protocol": values} }
	for name, test := range map[string]struct {
		header http.Header
		query  string
		want   string // empty if there is no valid token
	}{
		"the Authorization header":           {header: authorization("Bearer T"), want: "T"},
		"in any case":                        {header: authorization("bEARER  T "), want: "T"},
		"without Bearer":                     {header: authorization("T"), want: "T"},
		"the query":                          {query: "token=T&x=y", want: "T"},
		"the query as RFC 6750 names it":     {query: "access_token=T", want: "T"},
		"a subprotocol":                      {header: protocols("rethread.v1, bearer.T"), want: "T"},
		"a subprotocol first":                {header: protocols("bearer.T,rethread.v1"), want: "T"},
		"a subprotocol in a line of its own": {header: protocols("rethread.v1", "bearer.T"), want: "T"},
		"one place while others are empty":   {header: authorization("Bearer "), query: "token=&access_token=T", want: "T"},
		"no token":                           {},
		"other parameters and subprotocols":  {header: protocols("rethread.v1, bearer."), query: "tokens=T"},
		"the header and the query":           {header: authorization("Bearer T"), query: "token=T"},
		"the header and a subprotocol":       {header: http.Header{"Authorization": {"Bearer T"}, "Sec-Websocket-Protocol": {"bearer.T"}}},
		"the query twice":                    {query: "token=T&token=T"},
		"the query under both names":         {query: "token=T&access_token=T"},
		"two subprotocols":                   {header: protocols("bearer.T, bearer.U")},
		"two Authorization headers":          {header: authorization("Bearer T", "Bearer U")},
		"another scheme and a query token":   {header: authorization("Basic YTpi"), query: "token=T"},
	} {
		t.Run("from "+name, func(t *testing.T) {
			query, err := url.ParseQuery(test.query)
			if err != nil {
				t.Fatal(err)
			}
			got, err := tokens.Carried(test.header, query)
			if got != test.want || (test.want == "") != errors.Is(err, tokens.ErrInvalid) {
				t.Errorf("%q %v, want %q", got, err, test.want)
			}
		})
	}
}
