package proxyv1

import (
	"encoding/json"
	"fmt"
	"strings"
)

const invokeAction = "execute-api:invoke"

// policy is an IAM policy, restricted to what authorizers may return.
type policy struct {
	Statements oneOrMore[statement] `json:"Statement"`
}

type statement struct {
	Effect    string
	Actions   oneOrMore[string] `json:"Action"`
	Resources oneOrMore[string] `json:"Resource"`
	Condition json.RawMessage
	NotAction json.RawMessage
}

// oneOrMore decodes a single value or a list.
type oneOrMore[T any] []T

// UnmarshalJSON implements json.Unmarshaler.
func (o *oneOrMore[T]) UnmarshalJSON(data []byte) error {
	var many []T
	if err := json.Unmarshal(data, &many); err == nil {
		*o = many
		return nil
	}
	var one T
	if err := json.Unmarshal(data, &one); err != nil {
		return fmt.Errorf("neither a single value nor a list: %w", err)
	}
	*o = []T{one}
	return nil
}

// permits returns nil, ErrDenied or ErrExplicitlyDenied for a call of the route,
// and ErrAuthorizer for an invalid policy.
func (p *policy) permits(arn string) error {
	if len(p.Statements) == 0 {
		return fmt.Errorf("%w: the policy has no statement", ErrAuthorizer)
	}
	verdict := ErrDenied
	for _, s := range p.Statements {
		if err := s.check(); err != nil {
			return err
		}
		if !s.covers(arn) {
			continue
		}
		if s.Effect == "Deny" {
			return ErrExplicitlyDenied
		}
		verdict = nil
	}
	return verdict
}

func (s *statement) check() error {
	switch {
	case s.Effect != "Allow" && s.Effect != "Deny":
		return fmt.Errorf("%w: unknown effect %q", ErrAuthorizer, s.Effect)
	case s.Condition != nil, s.NotAction != nil:
		return fmt.Errorf("%w: conditions and NotAction are not supported by the local host", ErrAuthorizer)
	case len(s.Actions) == 0, len(s.Resources) == 0:
		return fmt.Errorf("%w: a statement without Action or Resource", ErrAuthorizer)
	default:
		return nil
	}
}

func (s *statement) covers(arn string) bool {
	return matchesAny(lower(s.Actions), invokeAction) && matchesAny(s.Resources, arn)
}

func lower(words []string) []string {
	var out []string
	for _, word := range words {
		out = append(out, strings.ToLower(word)) // IAM ignores the case of actions
	}
	return out
}

func matchesAny(patterns []string, text string) bool {
	for _, pattern := range patterns {
		if matches(pattern, text) {
			return true
		}
	}
	return false
}

// matches compares with IAM's wildcards: * matches any characters, including / and
// :, and ? matches one character.
func matches(pattern, text string) bool {
	star, resume := -1, 0
	p, t := 0, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, resume = p, t
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == text[t]):
			p++
			t++
		case star >= 0:
			resume++
			p, t = star+1, resume
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
