package sessions

import (
	"net/http"

	"github.com/rethread/rethread/shared/domain/erasure"
	"github.com/rethread/rethread/shared/transport/rest"
)

const erasurePath = rest.Versioned + "/me/data"

// Erasure deletes everything that a user owns, and reports the user's usage and
// quotas.
func Erasure(c rest.Config) http.Handler {
	a := &api{rest.NewAPI(c)}
	a.Handle(http.MethodDelete, erasurePath, a.erase)
	a.Handle(http.MethodGet, erasurePath, a.getErasure)
	a.Handle(http.MethodGet, rest.Versioned+"/me/usage", a.getUsage)
	return a.Mux
}

func (a *api) erase(c *rest.Call) (*rest.Reply, error) {
	report, err := a.Erasures.Erase(c.Context(), c.User)
	if err != nil {
		return nil, err
	}
	status := http.StatusOK
	if report.Status != erasure.Complete {
		status = http.StatusAccepted
	}
	rep, err := rest.JSON(status, rest.Data{Data: report})
	if err == nil {
		rep.Header.Set("Location", erasurePath)
	}
	return rep, err
}

func (a *api) getErasure(c *rest.Call) (*rest.Reply, error) {
	report, err := a.Erasures.Erasure(c.Context(), c.User)
	if err != nil {
		return nil, err
	}
	return rest.JSON(http.StatusOK, rest.Data{Data: report})
}
