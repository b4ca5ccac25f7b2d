package content_test

import (
	"strings"

	"pgregory.net/rapid"
)

// anyContent draws a content without white space, with known and unknown members, some of
// them of other types than they should have, and some twice.
func anyContent(t *rapid.T) string {
	members := draw(t, "members", 3, func() string {
		return rapid.SampledFrom([]string{`"role":"user"`, `"role":"model"`, `"role":7`, member(t, value(t, 2)), parts(t)}).Draw(t, "member")
	})
	return "{" + strings.Join(append(members, parts(t)), ",") + "}"
}

func parts(t *rapid.T) string {
	return `"parts":[` + strings.Join(draw(t, "parts", 4, func() string { return part(t) }), ",") + "]"
}

func part(t *rapid.T) string {
	return "{" + strings.Join(draw(t, "part", 3, func() string {
		inner := "{" + strings.Join(draw(t, "inner", 3, func() string { return member(t, value(t, 2)) }), ",") + "}"
		return member(t, rapid.SampledFrom([]string{`"a text"`, inner, inner, value(t, 2)}).Draw(t, "value"))
	}), ",") + "}"
}

// member draws a member, most of them of one of the names that the package knows.
func member(t *rapid.T, value string) string {
	return `"` + rapid.SampledFrom([]string{
		"text", "thought", "data", "function_call", "function_response", "inline_data", "file_data", "mime_type", "display_name",
		"part_metadata", "id", "name", "args", "args_text", "response", "file_uri", "thought_signature", `\u0074ext`, "x",
	}).Draw(t, "name") + `":` + value
}

func value(t *rapid.T, depth int) string {
	simple := rapid.SampledFrom([]string{
		`"t"`, `""`, `true`, `null`, `{}`, `[]`, `5`, `1.10e2`, `12345678901234567890`, `"\ud83d\ude00"`, `"_-8"`, `"{\"a\":1}"`, `"<&>"`,
	})
	if depth == 0 || rapid.Bool().Draw(t, "simple") {
		return simple.Draw(t, "value")
	}
	return rapid.SampledFrom([]string{"[" + value(t, depth-1) + "]", "{" + member(t, value(t, depth-1)) + "}"}).Draw(t, "nested")
}

func draw(t *rapid.T, what string, most int, one func() string) []string {
	out := make([]string, rapid.IntRange(0, most).Draw(t, what))
	for i := range out {
		out[i] = one()
	}
	return out
}
