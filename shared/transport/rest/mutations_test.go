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

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/e2e/httpfile"
	"github.com/rethread/rethread/infra/test/mutate"
	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
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
	table   table.Engine
	random  *rand.Rand
	file    *httpfile.Session
	sent    int
	refused int
}

// Wrong bodies derived from the samples cause no internal error, no answer
// reveals Go's errors, and a refused request changes nothing.
func TestMutations(t *testing.T) {
	t.Parallel()
	s := &samples{table: storetest.Engine(t), random: property.Rand(t, 0)}
	s.system = newSystem(t, func(c *rest.Config) {
		store := stores.New(s.table, stores.WithLogger(c.Log))
		c.Sessions, c.Rewinds, c.Runs, c.Tasks, c.Feedback, c.Artifacts = store.Sessions, store.History, store.Runs, store.Tasks, store.Feedback, store.Artifacts
		c.Idempotency, c.Exports, c.Imports, c.Erasures, c.Quotas = store.Idempotency, store.Archives, store.Archives, store.Lifecycle, store.Runs
		c.Grants, c.Shares, c.Automations, c.Webhooks = store.Shares, store.Shares, store.Automations, store.Webhooks
	})
	s.agents = agents{"default", "data_analyst", "demo"}
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "samplerequests", "*.http"))
	if err != nil || len(files) < 15 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		switch filepath.Base(name) {
		case "a2a.http", "addresses.http", "mcp.http": // served by other transports
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
func (s *samples) items(t *testing.T) map[table.Key]table.Item {
	t.Helper()
	out := map[table.Key]table.Item{}
	for _, item := range storetest.Items(t, s.table) {
		key, err := table.KeyOf(item)
		if err != nil {
			t.Fatal(err)
		}
		out[key] = item
	}
	return out
}

func changedKeys(before, after map[table.Key]table.Item) []table.Key {
	var out []table.Key
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
	return out
}

// restore restores the table's items, and returns the keys of those that
// differed.
func (s *samples) restore(t *testing.T, want map[table.Key]table.Item) []table.Key {
	t.Helper()
	changed := changedKeys(want, s.items(t))
	for _, key := range changed {
		write := table.Delete(key)
		if item, ok := want[key]; ok {
			write = table.Put(item)
		}
		if _, err := s.table.Write(t.Context(), write); err != nil {
			t.Fatal(err)
		}
	}
	return changed
}
