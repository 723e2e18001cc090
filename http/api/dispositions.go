package api

import "net/http"

var dispositionRoutes = []route{{pattern: "/api/v1/dispositions", endpoints: table{
	http.MethodGet:  {permission: "dispositions:read", serve: dispositionsDisabled},
	http.MethodPost: mutation("dispositions:write", dispositionsDisabled),
}}}

var dispositionsDisabled = disabled("dispositions disabled", noSetting)
