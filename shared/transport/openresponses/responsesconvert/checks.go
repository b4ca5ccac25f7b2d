package responsesconvert

import (
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
)

type checkFunc func(o jsonx.Object, name string) error

// checks returns the checks of the values of parameters, whether an agent obeys them or
// not. A value that is not shown could be anything otherwise.
func checks() map[string]checkFunc {
	return map[string]checkFunc{
		"temperature":         between(0, 2),
		"top_p":               between(0, 1),
		"presence_penalty":    between(-2, 2),
		"frequency_penalty":   between(-2, 2),
		"top_logprobs":        integer(0, 20),
		"max_output_tokens":   integer(16, 1<<53),
		"max_tool_calls":      integer(1, 1<<53),
		"parallel_tool_calls": func(o jsonx.Object, name string) error { _, err := o.Boolean(name); return err },
		"include":             func(o jsonx.Object, name string) error { _, err := o.Texts(name); return err },
		"stream_options":      func(o jsonx.Object, name string) error { _, err := o.Object(name); return err },
		"truncation":          oneOf("auto", "disabled"),
		"service_tier":        oneOf("auto", "default", "flex", "scale", "priority"),
	}
}

func between(least, most float64) checkFunc {
	return func(o jsonx.Object, name string) error {
		var n float64
		if err := o.Take(name, &n, "a number"); err != nil {
			return err
		}
		if n < least || n > most {
			return fault.Field(fault.Invalid, o.Pointer(name), "must be between %v and %v", least, most)
		}
		return nil
	}
}

func integer(least, most int64) checkFunc {
	return func(o jsonx.Object, name string) error {
		n, err := o.Integer(name)
		if err != nil || n == nil {
			return err
		}
		if *n < least || *n > most {
			return fault.Field(fault.Invalid, o.Pointer(name), "must be an integer from %d to %d", least, most)
		}
		return nil
	}
}

func oneOf(values ...string) checkFunc {
	return func(o jsonx.Object, name string) error {
		_, err := o.Choice(name, values...)
		return err
	}
}
