package api

var auditRoutes = []route{{pattern: "/api/v1/audit", endpoints: get("audit:read",
	disabled("audit trail disabled", noSetting))}}
