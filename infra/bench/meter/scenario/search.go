package scenario

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/uuid"
)

// When a session is searched.
const (
	SearchedFirst = "for the first time"
	SearchedAgain = "again"
	SearchedMore  = "again, after another turn"
	SearchedFound = "again, for a word of its oldest message"
)

// Words of a search: none is in the texts of turns.
const absentWord, oldestWord = "zyzzyva", "quetzal"

// Searched names the scenario in which a user whose only session has so many turns searches
// its messages.
func Searched(turns int, when string) string {
	return fmt.Sprintf("search in messages, a session of %d turns, %s", turns, when)
}

// SearchedTurns are the lengths of the sessions that are searched.
func SearchedTurns() []int { return []int{10, 100} }

// search measures searches of sessions of their own, of whose lengths the plan has those
// that are not longer than its own.
func (t *trial) search(ctx context.Context) error {
	if t.history != t.Histories[0] {
		return nil
	}
	own, session := t.client, t.session
	defer func() { t.client, t.session = own, session }()
	for _, turns := range SearchedTurns() {
		if turns > t.Turns {
			continue
		}
		if err := t.searchOne(ctx, turns); err != nil {
			return err
		}
	}
	return nil
}

func (t *trial) searchOne(ctx context.Context, turns int) (err error) {
	if t.client, err = newClient(ctx, t.URL, "search-"+uuid.NewString()); err != nil {
		return err
	}
	if t.session, err = t.client.create(ctx); err != nil {
		return err
	}
	for n := range turns {
		turn := t.newTurn()
		if n == 0 {
			turn[0]["content"] = object{"role": "user", "parts": []object{{"text": question(t.turn) + " " + oldestWord}}}
		}
		if err := t.append(ctx, turn); err != nil {
			return err
		}
	}
	for _, s := range []struct {
		when, word string
		want       int
	}{{SearchedFirst, absentWord, 0}, {SearchedAgain, absentWord, 0}, {SearchedMore, absentWord, 0}, {SearchedFound, oldestWord, 1}} {
		if s.when == SearchedMore {
			if err := t.append(ctx, t.newTurn()); err != nil {
				return err
			}
		}
		if err := t.measure(ctx, Searched(turns, s.when), 1, func() error { return t.find(ctx, s.word, s.want) }); err != nil {
			return err
		}
	}
	return nil
}

// find searches all pages for a word that so many sessions have.
func (t *trial) find(ctx context.Context, word string, want int) error {
	var page struct {
		Data []struct{} `json:"data"`
		Meta struct {
			Next string `json:"next_cursor"`
		} `json:"meta"`
	}
	query, found := api+"/sessions?in=messages&q="+word, 0
	for next := query; next != ""; {
		page.Data, page.Meta.Next = nil, ""
		if err := t.client.do(ctx, http.StatusOK, http.MethodGet, next, nil, &page); err != nil {
			return err
		}
		found += len(page.Data)
		if next = page.Meta.Next; next != "" {
			next = query + "&cursor=" + url.QueryEscape(next)
		}
	}
	if found != want {
		return fmt.Errorf("the search for %s found %d sessions, not %d: %w", word, found, want, errUnexpected)
	}
	return nil
}

// searchHead is the first line of the table in docs/search.md.
const searchHead = "| a search of one session | 10 turns: write units | read units | 100 turns: write units | read units |\n"

// ErrNoTable means that a page lacks the table that is written into it.
var ErrNoTable = errors.New("the table is missing")

// SearchPage returns a page, docs/search.md, with its table of costs replaced by that of the
// record.
func SearchPage(page string, r Record) (string, error) {
	measured := map[string]Measure{}
	for _, m := range r.Measures {
		measured[m.Scenario] = m
	}
	before, rest, found := strings.Cut(page, searchHead)
	if !found {
		return "", fmt.Errorf("%w: %s", ErrNoTable, searchHead)
	}
	var rows strings.Builder
	rows.WriteString("|---|---:|---:|---:|---:|\n")
	for _, when := range []string{SearchedFirst, SearchedAgain, SearchedMore, SearchedFound} {
		rows.WriteString("| " + when + " |")
		for _, turns := range SearchedTurns() {
			m, ok := measured[Searched(turns, when)]
			if !ok {
				return "", fmt.Errorf("no measure, run make meter: %s", Searched(turns, when))
			}
			fmt.Fprintf(&rows, " %v | %v |", m.Requests.Writes, m.Requests.Reads)
		}
		rows.WriteString("\n")
	}
	for strings.HasPrefix(rest, "|") {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	return before + searchHead + rows.String() + rest, nil
}
