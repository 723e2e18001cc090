package api

import (
	"net/http"

	"github.com/sluicehq/sluice/http/openapi"
	"github.com/sluicehq/sluice/http/reply"
)

var riskRoutes = []route{{pattern: "/api/v1/risk", endpoints: get("risk:read", (*Resources).getRisk, listRisk)}}

var listRisk = operation{
	id: "listRisk", summary: "List the entities that bear risk",
	answers: []openapi.Answer{replies(http.StatusOK, entityList{}, "Nothing: this version does not score risk.")},
}

type entityList struct {
	Count    int        `json:"count"`
	Entities []struct{} `json:"entities"`
}

func (*Resources) getRisk(w http.ResponseWriter, _ *http.Request) {
	reply.JSON(w, http.StatusOK, entityList{Entities: []struct{}{}})
}
