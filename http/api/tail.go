package api

var tailRoutes = []route{{pattern: "/api/v1/detections/stream", stream: true, endpoints: get("detections:read",
	disabled("detection tail disabled", noSetting))}}
