package access

import (
	"context"
	"net/url"
	"unicode"

	"github.com/rethread/rethread/shared/base/fault"
)

// UserHeader is the header in which a service names the user that it acts for.
const UserHeader = "Rethread-User"

// Caller is the user of a request: the subject of a verified token or, if that is a
// service's, the user that it names.
type Caller struct {
	UserID string
	// Admin is set if the caller may read every session.
	Admin bool
	// Service is the subject of a service's token; "" for other tokens.
	Service string
	// ChangesApp is set if the caller may change the state of an app, which the sessions
	// of all its users have in common.
	ChangesApp bool
	// Token is the bearer token, to make further requests with.
	Token string
}

// Acts reports whether a service acts for another user.
func (c Caller) Acts() bool { return c.Service != "" && c.Service != c.UserID }

// Named returns the value of UserHeader with which the caller's token makes requests
// for the same user; "" if it needs none.
func (c Caller) Named() string {
	if !c.Acts() {
		return ""
	}
	return url.PathEscape(c.UserID)
}

type callerKey struct{}

// WithCaller adds the caller of a request to its context.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf returns the caller of a request; its UserID is "" without a verified token.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

// DecodeUser decodes a value of UserHeader, a percent-encoded id.
func DecodeUser(value string) (string, error) {
	for _, r := range value {
		if r <= ' ' || r > '~' || r == ',' { // gateways join several values by commas
			return "", fault.Field(fault.Malformed, UserHeader, "must be one percent-encoded user id")
		}
	}
	id, err := url.PathUnescape(value)
	if err != nil {
		return "", fault.Field(fault.Malformed, UserHeader, "must be one percent-encoded user id")
	}
	return id, CheckNamed(id, UserHeader)
}

// CheckNamed returns a fault for a user id that a service cannot act for; field is the
// parameter that has it.
func CheckNamed(id, field string) error {
	if !IsUserID(id) {
		return fault.Field(fault.Malformed, field, "must be a user id of 1 to %d characters and at most %d bytes of UTF-8", MaxUserID, MaxUserIDBytes)
	}
	for _, r := range id {
		if unicode.IsControl(r) {
			return fault.Field(fault.Malformed, field, "must have no control characters")
		}
	}
	return nil
}
