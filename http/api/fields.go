package api

import "net/http"

var fieldRoutes = []route{
	{pattern: "/api/v1/fields", endpoints: get("fields:read", fieldsDisabled)},
	{pattern: "/api/v1/fields/unknown", endpoints: get("fields:read", fieldsDisabled)},
	{pattern: "/api/v1/fields/missing", endpoints: get("fields:read", fieldsDisabled)},
	{pattern: "/api/v1/fields/observer", endpoints: table{http.MethodDelete: mutation("fields:write", fieldsDisabled)}},
}

var fieldsDisabled = disabled("field observation disabled", noSetting)
