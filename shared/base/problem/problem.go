// Package problem says which HTTP status stands for which kind of fault, for
// every transport that answers with problems (RFC 9457) or reads them.
package problem

import (
	"net/http"

	"github.com/rethread/rethread/shared/base/fault"
)

// Status is the status of a kind of fault, 0 for what is none.
func Status(k fault.Kind) int {
	switch k {
	case fault.Malformed:
		return http.StatusBadRequest
	case fault.Unauthorized:
		return http.StatusUnauthorized
	case fault.Forbidden:
		return http.StatusForbidden
	case fault.NotFound:
		return http.StatusNotFound
	case fault.Conflict:
		return http.StatusConflict
	case fault.Precondition:
		return http.StatusPreconditionFailed
	case fault.TooLarge:
		return http.StatusRequestEntityTooLarge
	case fault.Invalid:
		return http.StatusUnprocessableEntity
	case fault.Busy:
		return http.StatusTooManyRequests
	}
	return 0
}

// Kind is the kind of fault that a status stands for, 0 for none.
func Kind(status int) fault.Kind {
	for k := fault.Malformed; Status(k) != 0; k++ {
		if Status(k) == status {
			return k
		}
	}
	return 0
}
