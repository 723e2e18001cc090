package api

import "net/http"

var riskRoutes = []route{{pattern: "/api/v1/risk", endpoints: get("risk:read", (*Resources).getRisk)}}

type entityList struct {
	Count    int        `json:"count"`
	Entities []struct{} `json:"entities"`
}

func (*Resources) getRisk(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, entityList{Entities: []struct{}{}})
}
