package conversation

import (
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/content"
)

func kindOf(p content.Part) Kind {
	switch {
	case p.Call != nil:
		return PieceCall
	case p.Response != nil:
		return PieceResponse
	case p.Inline != nil, p.File != nil && p.File.URI != "":
		return PieceFile
	case p.Text != nil && p.Thought:
		return PieceThought
	case p.Text != nil:
		return PieceText
	}
	return PieceOther
}

// argsOf returns the JSON text of a call's arguments, so far.
func argsOf(c *content.Call) string {
	switch {
	case c.ArgsText != nil:
		return *c.ArgsText
	case jsonx.IsNull(c.Args):
		return "{}"
	}
	return string(c.Args)
}
