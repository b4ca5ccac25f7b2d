package rest

import (
	"net/http"

	"github.com/rethread/rethread/shared/domain/erasure"
)

const erasurePath = versioned + "/me/data"

// Erasure deletes everything that a user owns, and reports the user's usage and
// quotas.
func Erasure(c Config) http.Handler {
	a := newAPI(c)
	a.handle(http.MethodDelete, erasurePath, a.erase)
	a.handle(http.MethodGet, erasurePath, a.getErasure)
	a.handle(http.MethodGet, versioned+"/me/usage", a.getUsage)
	return a.mux
}

func (a *api) erase(c *call) (*reply, error) {
	report, err := a.Erasures.Erase(c.Context(), c.user)
	if err != nil {
		return nil, err
	}
	status := http.StatusOK
	if report.Status != erasure.Complete {
		status = http.StatusAccepted
	}
	rep, err := jsonReply(status, data{report})
	if err == nil {
		rep.header.Set("Location", erasurePath)
	}
	return rep, err
}

func (a *api) getErasure(c *call) (*reply, error) {
	report, err := a.Erasures.Erasure(c.Context(), c.user)
	if err != nil {
		return nil, err
	}
	return jsonReply(http.StatusOK, data{report})
}
