package api

var tapRoutes = []route{{pattern: "/api/v1/tap", stream: true, endpoints: get("tap:read",
	disabled("event tap disabled", noSetting))}}
