package ws

import (
	"errors"
	"math"
	"strconv"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/problem"
	"github.com/rethread/rethread/shared/domain/access"
)

// Verified is what the authorizer found about a request. It passes through the gateway
// as requestContext.authorizer.
type Verified struct {
	Caller  access.Caller // without the token; the zero Caller if the request is refused
	Expires int64         // of the token, seconds since 1970
	// Refused is the fault of a request with a valid token that names a user whom it
	// must not act for. The gateway's own refusals have no reason.
	Refused error
}

// Names in requestContext.authorizer.
const (
	subName     = "sub" // the user, whom a service may have named
	serviceName = "service"
	adminName   = "admin"
	appName     = "changes_app"
	expiresName = "exp"
	statusName  = "refused" // the status
	codeName    = "refused_code"
	detailName  = "refused_detail"
	fieldName   = "refused_field"
)

const yes = "true"

// Context encodes what was found.
func (v Verified) Context() map[string]any {
	out := map[string]any{expiresName: strconv.FormatInt(v.Expires, 10)}
	var f *fault.Error
	if errors.As(v.Refused, &f) {
		out[statusName], out[codeName], out[detailName] = strconv.Itoa(problem.Status(f.Kind)), string(fault.CodeOf(f)), f.Detail
		if len(f.Violations) > 0 {
			out[fieldName], out[detailName] = f.Violations[0].Pointer, f.Violations[0].Detail
		}
		return out
	}
	out[subName] = v.Caller.UserID
	for name, is := range map[string]bool{adminName: v.Caller.Admin, appName: v.Caller.ChangesApp} {
		if is {
			out[name] = yes
		}
	}
	if v.Caller.Service != "" {
		out[serviceName] = v.Caller.Service
	}
	return out
}

// ReadVerified decodes what was found. An invalid user id becomes "", whichever
// authorizer a deployment has, and an invalid expiry lies in the past.
func ReadVerified(authorizer map[string]any) Verified {
	text := func(name string) string {
		s, _ := authorizer[name].(string) // API Gateway turns every value into a string
		return s
	}
	v := Verified{Expires: expiry(authorizer[expiresName])}
	if status, err := strconv.Atoi(text(statusName)); err == nil {
		refused := fault.Field(problem.Kind(status), text(fieldName), "%s", text(detailName))
		refused.Code = fault.Code(text(codeName))
		v.Refused = refused
		return v
	}
	if sub := text(subName); access.IsUserID(sub) {
		v.Caller = access.Caller{
			UserID: sub, Service: text(serviceName), Admin: text(adminName) == yes, ChangesApp: text(appName) == yes,
		}
	}
	return v
}

func expiry(exp any) int64 {
	switch exp := exp.(type) {
	case string:
		if n, err := strconv.ParseInt(exp, 10, 64); err == nil {
			return n
		}
	case float64:
		if exp > 0 && exp < math.MaxInt32*1000 {
			return int64(exp)
		}
	}
	return 0
}
