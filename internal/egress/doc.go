// Package egress makes the HTTP clients with which the daemon reaches other systems: its
// sources, enrichers and webhooks. A Policy says which addresses they may reach.
//
// The policy judges the address that is dialled, so that neither a name whose address
// changes nor a redirect leads around it: names are resolved once, denied addresses are
// left out, one of the others is dialled, and the socket itself is judged again before it
// connects. Literal addresses take the same path, in every spelling that resolvers
// understand. IPv6 addresses that stand for IPv4 addresses are judged as those.
//
// The variables HTTP_PROXY, HTTPS_PROXY and NO_PROXY are honoured. The target of a
// request is judged before anything is sent to a proxy, and the proxy's own address like
// any other.
//
// Make one client per set of TLS settings and share it: it keeps connections.
//
//	client := egress.NewClient(egress.Options{Policy: policy, UserAgent: "sluice/1.0"})
//	answer, err := client.Do(request)             // a context of the request limits its time
//	...
//	response.Discard(answer)                      // package response reads answers
package egress
