package api

var tapRoutes = []route{{pattern: "/api/v1/tap", stream: true, endpoints: get("tap:read",
	disabled("event tap disabled", "start with --enable-tap or set daemon.tap.enabled"))}}
