// Package mutate makes invalid requests from valid ones: JSON in which a few
// members are missing, null, of another type, far too long, large or deep,
// duplicated, or not UTF-8. The same random source makes the same texts.
package mutate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// maxChanges limits the changes in one text.
const maxChanges = 3

// JSON returns raw, which must be JSON, with one to three changes. The result may
// be invalid JSON or invalid UTF-8.
func JSON(random *rand.Rand, raw []byte) (string, error) {
	root, err := parse(raw)
	if err != nil {
		return "", err
	}
	for range 1 + random.IntN(maxChanges) {
		change(random, root)
	}
	var out strings.Builder
	root.write(&out)
	return out.String(), nil
}

// node is a JSON value that can represent what no decoder returns: duplicate
// members, and unescaped text.
type node struct {
	text    string // of a scalar; of any value if members and items are nil
	object  bool
	members []member
	items   []*node
}

type member struct {
	name  string // as written, with quotes
	value *node
}

func parse(raw []byte) (*node, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return value(dec)
}

func value(dec *json.Decoder) (*node, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, fmt.Errorf("mutate: %w", err)
	}
	delim, nests := token.(json.Delim)
	if !nests {
		text, err := json.Marshal(token)
		return &node{text: string(text)}, err
	}
	n := &node{object: delim == '{'}
	for dec.More() {
		var m member
		if n.object {
			name, err := value(dec)
			if err != nil {
				return nil, err
			}
			m.name = name.text
		}
		if m.value, err = value(dec); err != nil {
			return nil, err
		}
		if n.object {
			n.members = append(n.members, m)
		} else {
			n.items = append(n.items, m.value)
		}
	}
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("mutate: %w", err)
	}
	if !n.object && n.items == nil {
		n.text = "[]"
	}
	return n, nil
}

func (n *node) write(out *strings.Builder) {
	switch {
	case n.object:
		out.WriteByte('{')
		for i, m := range n.members {
			if i > 0 {
				out.WriteByte(',')
			}
			out.WriteString(m.name + ":")
			m.value.write(out)
		}
		out.WriteByte('}')
	case n.items != nil:
		out.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				out.WriteByte(',')
			}
			item.write(out)
		}
		out.WriteByte(']')
	default:
		out.WriteString(n.text)
	}
}

// become replaces a node with another value.
func (n *node) become(text string) { *n = node{text: text} }

// all returns a node and its descendants.
func (n *node) all() []*node {
	out := []*node{n}
	for _, m := range n.members {
		out = append(out, m.value.all()...)
	}
	for _, item := range n.items {
		out = append(out, item.all()...)
	}
	return out
}

func change(random *rand.Rand, root *node) {
	nodes := root.all()
	n := nodes[random.IntN(len(nodes))]
	if len(n.members) == 0 || random.IntN(2) == 0 {
		n.become(badValue(random))
		return
	}
	i := random.IntN(len(n.members))
	m := &n.members[i]
	switch random.IntN(6) {
	case 0, 1:
		n.members = append(n.members[:i:i], n.members[i+1:]...)
	case 2: // duplicate, with the same value or another
		again := member{m.name, &node{text: "null"}}
		if random.IntN(2) == 0 {
			again.value = &node{text: badValue(random)}
		}
		n.members = append(n.members, again)
	case 3:
		m.name = strings.ToUpper(m.name)
	case 4:
		m.name = badText(random)
	default:
		n.members = append(n.members, member{badText(random), &node{text: badValue(random)}})
	}
}

func badValue(random *rand.Rand) string {
	plain := []string{
		`null`, `true`, `0`, `-1`, `1`, `0.5`, `1e400`, `-1e-400`, `9223372036854775807`, `9223372036854775808`,
		`123456789012345678901234567890`, `1e15`, `""`, `"x"`, `[]`, `{}`, `[null]`, `{"":null}`, `[[]]`, `"0"`,
		`{"id":{"id":[]}}`, `[1,"x",{}]`, ``, `}`, `nul`, `01`,
	}
	switch i := random.IntN(len(plain) + 14); {
	case i < len(plain):
		return plain[i]
	case i < len(plain)+4:
		return nested(random)
	default:
		return badText(random)
	}
}

// nested is nested about as deep as allowed, or far deeper.
func nested(random *rand.Rand) string {
	depth := []int{100, 490, 499, 500, 501, 10_000, 50_000}[random.IntN(7)]
	if random.IntN(2) == 0 {
		return strings.Repeat("[", depth) + strings.Repeat("]", depth)
	}
	return strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth)
}

func badText(random *rand.Rand) string {
	switch random.IntN(8) {
	case 0:
		return `"\ud83dx"`
	case 1:
		return `"\udc00"`
	case 2:
		return "\"\xff\xc3\""
	case 3:
		return `"\u0000\u001f` + "\u007f" + `"`
	case 4:
		return `"` + strings.Repeat("/?#%~ ", 1+random.IntN(20)) + `"`
	case 5:
		return strconv.Quote("\u00e9" + strings.Repeat("😀", 1+random.IntN(300)))
	}
	sizes := []int{127, 128, 129, 255, 256, 257, 1_023, 1_024, 2_049, 16_385, 100_001, 300_000}
	return `"` + strings.Repeat("x", sizes[random.IntN(len(sizes))]) + `"`
}
