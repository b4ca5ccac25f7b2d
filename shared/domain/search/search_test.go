package search_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/domain/search"
)

func TestFind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		query, text string
		at          string // what the text continues with, "" if nothing is found
	}{
		{"lisbon", "A trip to Lisbon.", "Lisbon."},
		{"trip LISB", "Lisbon is worth a trip", "Lisbon"},
		{"isbon", "Lisbon", ""},
		{"lisbon porto", "Lisbon", ""},
		{"cafe", "ein Café", "Café"},
		{"café", "ein Cafe", "Cafe"},
		{"cafe\u0301", "ein CAFÉ", "CAFÉ"},
		{"strasse", "die Straße", "Straße"},
		{"σας", "ΣΑΣ", "ΣΑΣ"},
		{"елка", "Ёлка", "Ёлка"},
		{"istanbul", "İstanbul", "İstanbul"},
		{"wide 12", "ｗｉｄｅ １２", "ｗ"},
		{"session_id", "the id of a session", "id"},
		{"parse", "jsonParse", ""},
		{"example.com", "https://example.com/x", "example"},
		{"don't", "Don’t!", "Don"},
		{"coop", "co\u00adop", "co"},
		{"東京", "昨日東京都へ行った", "東京都"},
		{"京都", "昨日東京都へ行った", "京都"},
		{"東都", "昨日東京都へ行った", ""},
		{"京", "東京", "京"},
		{"行った 東京", "東京へ行った", "東京"},
		{"ベース", "データベース", "ベース"},
		{"ﾍﾞｰｽ", "データベース", "ベース"},
		{"ภาษา", "ผมพูดภาษาไทย", "ภาษา"},
		{"한국", "한국어를 배워요", "한국어"},
		{"2024 年", "2024年", "2024"},
		{"नमस्ते", "वह नमस्ते कहता", "नमस्ते"},
		{"שלום", "שלום עולם", "שלום"},
		{"a A á", "a", "a"},
	} {
		at, ok := search.Parse(c.query).Find(c.text)
		if ok != (c.at != "") || ok && !strings.HasPrefix(c.text[at:], c.at) {
			t.Errorf("%q in %q: at %d, %v", c.query, c.text, at, ok)
		}
		if may := search.Parse(c.query).MayMatch(setOf(c.text)); ok && !may {
			t.Errorf("%q is in %q, and its set says that it is not", c.query, c.text)
		}
	}
}

func TestParse_without_words(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", " ", "!?", "_", "。", "🎉", "\u0301", "\u00ad"} {
		if !search.Parse(text).Empty() {
			t.Errorf("%q has words", text)
		}
	}
}

// TestMayMatch_knows_absence checks that sets tell apart what they can.
func TestMayMatch_knows_absence(t *testing.T) {
	t.Parallel()
	set := setOf("The quick brown fox", "東京へ行った")
	for query, want := range map[string]bool{
		"qui BRO": true, "quit": false, "rown": false, "fox dog": false, "東京": true, "京東": false, "京": true, "駅": false,
	} {
		if got := search.Parse(query).MayMatch(set); got != want {
			t.Errorf("%q: %v", query, got)
		}
	}
}

func setOf(texts ...string) search.Set {
	words := search.NewWords()
	for _, text := range texts {
		words.Add(text)
	}
	return words.Set()
}

// texts are of characters that meet in ways that folding and sets must agree about.
func texts() *rapid.Generator[string] {
	return rapid.StringOfN(rapid.SampledFrom([]rune(
		"abAé\u0301ßﬁİıΣς 　._'-0９東京都のがｶﾞー\u3099ก็ำ한ᄒ\u1161नि\u200d\u00ad🎉👩\ufe0fÅ\U0001f1e9",
	)), 0, 30, -1)
}

// TestSetsOmitNothing checks that what is found in a text is in the set of the text, as
// encoded and together with others: a set that omitted a word would hide a message.
func TestSetsOmitNothing(t *testing.T) {
	t.Parallel()
	found := 0
	property.Check(t, func(rt *rapid.T) {
		text := texts().Draw(rt, "text")
		if rapid.IntRange(0, 9).Draw(rt, "long") == 0 {
			text += strings.Repeat(text, 20)
		}
		runes := []rune(text)
		from := rapid.IntRange(0, len(runes)).Draw(rt, "from")
		to := rapid.IntRange(from, len(runes)).Draw(rt, "to")
		query := search.Parse(string(runes[from:to]))
		decoded, err := search.DecodeSet(setOf(text, texts().Draw(rt, "another")).Encode())
		if err != nil {
			rt.Fatal(err)
		}
		all := search.NewWords()
		all.AddSet(decoded)
		all.Add(texts().Draw(rt, "later"))
		at, ok := query.Find(text)
		if !ok {
			return
		}
		found++
		if !query.MayMatch(decoded) || !query.MayMatch(all.Set()) {
			rt.Errorf("%q is in %q, and not in its set %q", string(runes[from:to]), text, decoded)
		}
		excerpt := search.Excerpt(text, max(at, 0))
		if n := utf8.RuneCountInString(excerpt); n > 202 || !utf8.ValidString(excerpt) {
			rt.Errorf("the excerpt has %d characters: %q", n, excerpt)
		}
	})
	if found < 10 {
		t.Errorf("only %d queries found something", found)
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		``:     "",
		`null`: "",
		`{"parts": [{"text": "one"}, {"thought": true, "text": "hidden"}, {"text": "two", "thought": false}]}`: "one\ntwo",
		`{"parts": [{"function_call": {"args": {"text": "hidden"}}}, {"text": 1}, {"Text": "x"}]}`:             "",
		`{"parts": "text"}`:     "",
		`{"parts": [1, {}]}`:    "",
		`{"text": "elsewhere"}`: "",
	} {
		if got := search.Text([]byte(content)); got != want {
			t.Errorf("%s says %q", content, got)
		}
	}
}
