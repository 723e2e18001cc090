package api

import "net/http"

var schemaRoutes = []route{
	{pattern: "/api/v1/schemas", endpoints: table{
		http.MethodGet:    {permission: "schemas:read", serve: schemasDisabled},
		http.MethodDelete: mutation("schemas:write", schemasDisabled),
	}},
	{pattern: "/api/v1/schemas/suggestions", endpoints: get("schemas:read", schemasDisabled)},
}

var schemasDisabled = disabled("schema observation disabled", noSetting)
