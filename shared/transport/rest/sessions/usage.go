package sessions

import (
	"net/http"

	"github.com/rethread/rethread/shared/transport/rest"
)

func (a *api) getUsage(c *rest.Call) (*rest.Reply, error) {
	usage, err := a.Quotas.Usage(c.Context(), c.User)
	if err != nil {
		return nil, err
	}
	return rest.JSON(http.StatusOK, rest.Data{Data: usage})
}
