package rest

import "net/http"

func (a *api) getUsage(c *call) (*reply, error) {
	usage, err := a.Quotas.Usage(c.Context(), c.user)
	if err != nil {
		return nil, err
	}
	return jsonReply(http.StatusOK, data{usage})
}
