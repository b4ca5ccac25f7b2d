package e2e_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/e2e"
)

func testEventLists(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice := sys.User(t, "alice")
	s := mustCreate(t, alice, nil)
	var want []string
	for i := range 25 {
		if i%5 == 0 {
			batch := make([]e2e.M, 5)
			for j := range batch {
				batch[j] = event(fmt.Sprint("i", i), fmt.Sprint(i+j))
			}
			mustAppend(t, alice, s, batch...)
		}
		want = append(want, fmt.Sprint(i+1))
	}
	down := slices.Clone(want)
	slices.Reverse(down)
	for query, seqs := range map[string][]string{
		"":                           want,
		"?limit=7":                   want,
		"?limit=7&order=desc":        down,
		"?limit=1":                   want,
		"?view=all&limit=10":         want,
		"?after=20":                  want[20:],
		"?after=20&limit=2":          want[20:],
		"?after=20&order=desc":       down[:5],
		"?after=25":                  {},
		"?after=9007199254740991":    {},
		"?view=effective&limit=1000": want,
	} {
		t.Run("GET events"+query, func(t *testing.T) {
			got := []string{}
			for _, page := range allPages(t, alice, s+"/events"+query) {
				got = append(got, page.Each("data", "seq")...)
			}
			if diff := cmp.Diff(seqs, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	t.Run("pages are limited by bytes", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		for i := range 7 {
			mustAppend(t, alice, s, event("i1", mustNoise(t, 1_200_000)+fmt.Sprint(i)))
		}
		pages := allPages(t, alice, s+"/events")
		seen := 0
		for _, page := range pages {
			seen += len(page.List("data"))
		}
		if len(pages) < 3 || seen != 7 {
			t.Errorf("%d events on %d pages", seen, len(pages))
		}
	})
	t.Run("a cursor belongs to its list", func(t *testing.T) {
		other := mustCreate(t, alice, nil)
		cursor := alice.Get(s + "/events?limit=2").Want(200).Str("meta.next_cursor")
		alice.Get(other + "/events?cursor=" + cursor).Want(400)
		alice.Get(api + "/sessions?cursor=" + cursor).Want(400)
	})
}

// mustNoise returns text of n bytes that hardly compresses, the same for every n.
func mustNoise(t *testing.T, n int) string {
	t.Helper()
	raw := make([]byte, n)
	if _, err := rand.NewChaCha8([32]byte([]byte(fmt.Sprintf("%032d", n)))).Read(raw); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(raw)[:n]
}
