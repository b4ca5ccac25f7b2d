package rest_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/dynamotest"
	"github.com/rethread/rethread/infra/test/e2e/httpfile"
	"github.com/rethread/rethread/infra/test/mutate"
	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table/dynamo"
	"github.com/rethread/rethread/shared/transport/rest"
)

const (
	// mutants is the number of wrong bodies per sample, and minMutants the least
	// number of all of them.
	mutants    = 40
	minMutants = 2500
)

// samples sends the requests of samplerequests to the handlers, each with a
// body preceded by wrong variants of it.
type samples struct {
	*system
	client  *dynamodb.Client
	table   string
	random  *rand.Rand
	file    *httpfile.Session
	sent    int
	refused int
}

// Wrong bodies derived from the samples cause no internal error, no answer
// reveals Go's errors, and a refused request changes nothing.
func TestMutations(t *testing.T) {
	t.Parallel()
	client, table := dynamotest.Client(t), dynamotest.Table(t)
	s := &samples{client: client, table: table, random: property.Rand(t, 0)}
	s.system = newSystem(t, func(c *rest.Config) {
		store := stores.New(dynamo.New(client, table, store.Schema()), sessions.WithLogger(c.Log))
		c.Sessions, c.Rewinds, c.Runs, c.Tasks, c.Feedback, c.Artifacts = store, store, store, store, store, store
		c.Idempotency, c.Exports, c.Imports, c.Erasures, c.Quotas = store, store, store, store, store
		c.Grants, c.Shares, c.Automations, c.Webhooks = store, store, store, store
	})
	s.agents = agents{"default", "data_analyst", "demo"}
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "samplerequests", "*.http"))
	if err != nil || len(files) < 15 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		switch filepath.Base(name) {
		case "a2a.http", "mcp.http": // served by other transports
		default:
			s.play(t, name)
		}
	}
	t.Logf("%d cases, %s=%d: wrong bodies, of which %d were refused", s.sent, property.Variable, property.Seed(t), s.refused)
	if s.sent < minMutants || s.refused < s.sent/2 {
		t.Errorf("%d bodies, %d refused", s.sent, s.refused)
	}
}

func (s *samples) play(t *testing.T, name string) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read
	parsed, err := httpfile.Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	parsed.Variables["host"] = "http://host"
	s.file = &httpfile.Session{Variables: parsed.Variables, NewID: uuid.NewString}
	s.restore(t, nil)
	for _, one := range parsed.Requests {
		resolved, err := s.file.Resolve(one)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(resolved.URL, "/dev/token") { // the token is the user's name
			user := decode[struct {
				UserID string `json:"user_id"`
			}](t, response{body: []byte(resolved.Body)}).UserID
			s.file.Remember(one.Name, httpfile.Answer{Body: fmt.Appendf(nil, `{"token":%q}`, user)})
			continue
		}
		r := requestOf(t, resolved)
		if strings.Contains(r.path, "/watch") { // served by another transport
			continue
		}
		title := fmt.Sprintf("%s:%d", filepath.Base(name), one.Line)
		if json.Valid([]byte(r.body)) {
			s.mutate(t, title, one)
		}
		got := s.do(t, r)
		if !slices.Contains(one.Expect, got.status) {
			t.Fatalf("%s: got %d %s", title, got.status, got.body)
		}
		s.file.Remember(one.Name, httpfile.Answer{Header: got.header, Body: got.body})
	}
}

func requestOf(t *testing.T, r httpfile.Request) request {
	t.Helper()
	at, err := url.Parse(r.URL)
	if err != nil {
		t.Fatal(err)
	}
	out := request{method: r.Method, path: at.RequestURI(), body: r.Body, header: map[string]string{}}
	for _, h := range r.Headers {
		if h.Name == "Authorization" {
			out.user = strings.TrimPrefix(h.Value, "Bearer ")
		} else {
			out.header[h.Name] = h.Value
		}
	}
	return out
}

// mutate sends variants of a request, each with the table restored before.
func (s *samples) mutate(t *testing.T, title string, sample httpfile.Request) {
	t.Helper()
	before := s.items(t)
	for range mutants {
		resolved, err := s.file.Resolve(sample) // with its own key
		if err != nil {
			t.Fatal(err)
		}
		r := requestOf(t, resolved)
		if r.body, err = mutate.JSON(s.random, []byte(r.body)); err != nil {
			t.Fatal(err)
		}
		s.sent++
		got := s.do(t, r)
		if got.status >= 500 || !utf8.Valid(got.body) || got.status >= 400 && goErrorWords.Match(got.body) {
			t.Errorf("%s: %.600q: got %d %.600s\nlog: %.600s", title, r.body, got.status, got.body, s.log)
		}
		s.log.Reset()
		changed := s.restore(t, before)
		if got.status < 400 {
			continue
		}
		s.refused++
		if len(changed) > 0 {
			t.Errorf("%s: %.600q: got %d %.300s, and there changed %v", title, r.body, got.status, got.body, changed)
		}
	}
}

// items returns all items of the table, by key.
func (s *samples) items(t *testing.T) map[string]map[string]types.AttributeValue {
	t.Helper()
	out := map[string]map[string]types.AttributeValue{}
	pages := dynamodb.NewScanPaginator(s.client, &dynamodb.ScanInput{TableName: &s.table})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			out[fmt.Sprint(item["PK"], " ", item["SK"])] = item
		}
	}
	return out
}

func changedKeys(before, after map[string]map[string]types.AttributeValue) []string {
	var out []string
	for key, item := range after {
		if !reflect.DeepEqual(before[key], item) {
			out = append(out, key)
		}
	}
	for key := range before {
		if _, ok := after[key]; !ok {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

// restore restores the table's items, and returns the keys of those that
// differed.
func (s *samples) restore(t *testing.T, want map[string]map[string]types.AttributeValue) []string {
	t.Helper()
	now := s.items(t)
	changed := changedKeys(want, now)
	for _, key := range changed {
		var err error
		if item, ok := want[key]; ok {
			_, err = s.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &s.table, Item: item})
		} else {
			_, err = s.client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
				TableName: &s.table, Key: map[string]types.AttributeValue{"PK": now[key]["PK"], "SK": now[key]["SK"]},
			})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return changed
}
