// Package audit keeps the audit trail: who changed what over the API, when, and with
// which outcome.
//
// A Trail wraps the endpoints that change something. Each use of one of them becomes a
// row in the state database before its answer is sent, so that no answered change is
// missing, also after a crash. Ids ascend and are never given twice. A row holds a digest
// of the request's body and never the body itself. What cannot be stored is counted and
// logged, and changes nothing for the client.
//
// Rows beyond the configured age and number are removed at the start and at each
// interval. Stored rows can be passed on, in their order, to a sink.
package audit
