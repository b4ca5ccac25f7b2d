package lambda

import (
	"encoding/json"
	"net/http"
)

// Mapping is an event source mapping, with the members of Lambda's API that are
// used here.
type Mapping struct {
	Function  string // name
	SourceARN string
	Filters   []string // patterns; if there are none, every record passes
	Enabled   bool
}

// configuration describes a function. A function that is built is active.
type configuration struct {
	FunctionName, FunctionArn, Runtime, Handler string

	Timeout, MemorySize     int
	State, LastUpdateStatus string
}

// serveConfiguration implements Lambda's GetFunctionConfiguration.
func (h *Host) serveConfiguration(rw http.ResponseWriter, r *http.Request) {
	p := h.pools[functionName(r.PathValue("name"))]
	if p == nil {
		answerAPIError(rw, http.StatusNotFound, "ResourceNotFoundException",
			"Function not found: "+h.arn(functionName(r.PathValue("name"))))
		return
	}
	answerJSON(rw, configuration{
		FunctionName: p.Name, FunctionArn: h.arn(p.Name), Runtime: p.Runtime, Handler: p.Handler,
		Timeout: int(p.Timeout.Seconds()), MemorySize: p.MemoryMB, State: "Active", LastUpdateStatus: "Successful",
	})
}

type filter struct{ Pattern string }

type filterCriteria struct{ Filters []filter }

type mappingConfiguration struct {
	UUID, FunctionArn, EventSourceArn, State string
	FilterCriteria                           *filterCriteria `json:",omitempty"`
}

// serveMappings implements Lambda's ListEventSourceMappings, with everything on
// one page.
func (h *Host) serveMappings(rw http.ResponseWriter, r *http.Request) {
	var mappings []Mapping
	if h.opts.Mappings != nil {
		var err error
		if mappings, err = h.opts.Mappings(r.Context()); err != nil {
			answerAPIError(rw, http.StatusInternalServerError, "ServiceException", err.Error())
			return
		}
	}
	query := r.URL.Query()
	function, source := functionName(query.Get("FunctionName")), query.Get("EventSourceArn")
	answer := struct{ EventSourceMappings []mappingConfiguration }{[]mappingConfiguration{}}
	for _, m := range mappings {
		if function != "" && m.Function != function || source != "" && m.SourceARN != source {
			continue
		}
		answer.EventSourceMappings = append(answer.EventSourceMappings, m.describe(h))
	}
	answerJSON(rw, answer)
}

func (m Mapping) describe(h *Host) mappingConfiguration {
	out := mappingConfiguration{
		UUID: m.Function + "/" + m.SourceARN, FunctionArn: h.arn(m.Function), EventSourceArn: m.SourceARN, State: "Disabled",
	}
	if m.Enabled {
		out.State = "Enabled"
	}
	for _, pattern := range m.Filters {
		if out.FilterCriteria == nil {
			out.FilterCriteria = &filterCriteria{}
		}
		out.FilterCriteria.Filters = append(out.FilterCriteria.Filters, filter{pattern})
	}
	return out
}

func answerJSON(rw http.ResponseWriter, body any) {
	rw.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(rw).Encode(body) // the caller may have disconnected
}
