package parameters_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/client/parameters"
)

// service emulates the required part of Systems Manager.
type service struct {
	held     map[string]string
	failures []string // of the first requests: the error type, or "" for a broken answer
	requests int
	most     int // names in one request
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests++
	if s.requests <= len(s.failures) {
		switch kind := s.failures[s.requests-1]; kind {
		case "":
			_, _ = w.Write([]byte("<html>"))
		case "InternalServerError":
			w.WriteHeader(http.StatusInternalServerError)
		default:
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprintf(w, `{"__type":%q,"message":"no"}`, kind)
		}
		return
	}
	var in struct {
		Names          []string
		WithDecryption bool
	}
	if json.NewDecoder(r.Body).Decode(&in) != nil || !in.WithDecryption || r.Header.Get("X-Amz-Target") != "AmazonSSM.GetParameters" ||
		!strings.Contains(r.Header.Get("Authorization"), "Credential=key/20240102/eu-west-1/ssm/aws4_request") ||
		r.Header.Get("X-Amz-Security-Token") != "token" {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	s.most = max(s.most, len(in.Names))
	out := map[string][]map[string]string{"Parameters": {}}
	for _, name := range in.Names {
		if value, ok := s.held[name]; ok {
			out["Parameters"] = append(out["Parameters"], map[string]string{"Name": name, "Value": value})
		}
	}
	_ = json.NewEncoder(w).Encode(out)
}

func read(t *testing.T, s *service, environment ...string) (map[string]string, error) {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return parameters.Client{
		HTTP: server.Client(), Region: "eu-west-1", Endpoint: server.URL,
		Credentials: aws.Credentials{AccessKeyID: "key", SecretAccessKey: "secret", SessionToken: "token"},
		Now:         func() time.Time { return time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC) },
	}.Read(t.Context(), environment)
}

func TestRead(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("a", 8<<10)
	held := map[string]string{"/rethread/agents": large, "/rethread/key": "k", "/empty": ""}
	for _, test := range []struct {
		name        string
		environment []string
		failures    []string
		want        map[string]string
		requests    int
		wrong       string // a part of the error
	}{
		{"none is asked for", []string{"AGENTS={}", "AGENTS_PARAMETER=", "_PARAMETER=/x"}, nil, map[string]string{}, 0, ""},
		{"some", []string{"AGENTS={}", "AGENTS_PARAMETER=/rethread/agents", "KEY_PARAMETER=/rethread/key"}, nil, map[string]string{"AGENTS": large, "KEY": "k"}, 1, ""},
		{"one for two", []string{"A_PARAMETER=/rethread/key", "B_PARAMETER=/rethread/key"}, nil, map[string]string{"A": "k", "B": "k"}, 1, ""},
		{"one that is missing", []string{"A_PARAMETER=/missing", "B_PARAMETER=/rethread/key"}, nil, nil, 1, "/missing, which is to hold A"},
		{"one that is empty", []string{"A_PARAMETER=/empty"}, nil, nil, 1, "/empty, which is to hold A"},
		{"after failures", []string{"A_PARAMETER=/rethread/key"}, []string{"ThrottlingException", "InternalServerError", ""}, map[string]string{"A": "k"}, 4, ""},
		{"not allowed", []string{"A_PARAMETER=/rethread/key"}, []string{"AccessDeniedException"}, nil, 1, "AccessDeniedException"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := &service{held: held, failures: test.failures}
			got, err := read(t, s, test.environment...)
			if test.wrong != "" {
				if !errors.Is(err, parameters.ErrUnreadable) || !strings.Contains(err.Error(), test.wrong) {
					t.Errorf("got %v", err)
				}
			} else if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" || s.requests != test.requests {
				t.Errorf("%d requests, want %d (-want +got):\n%s", s.requests, test.requests, diff)
			}
		})
	}
}

func TestReadMany(t *testing.T) {
	t.Parallel()
	s := &service{held: map[string]string{}}
	var environment []string
	for i := range 23 {
		s.held[fmt.Sprint("/p", i)] = fmt.Sprint(i)
		environment = append(environment, fmt.Sprintf("V%d_PARAMETER=/p%d", i, i))
	}
	if got, err := read(t, s, environment...); err != nil || len(got) != 23 || got["V22"] != "22" || s.most != 10 || s.requests != 3 {
		t.Errorf("%v: %d values in %d requests of up to %d", err, len(got), s.requests, s.most)
	}
}
