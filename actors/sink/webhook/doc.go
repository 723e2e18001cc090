// Package webhook posts results to other systems over HTTP: chats, pagers, tickets.
//
// A webhook has a file that says what it is for (a kind of results and a scope) and what
// its requests are made of: templates of URL, headers and body. Load reads such files
// and reports everything that is wrong with them at once.
//
// A webhook that was loaded has a Form, which admits results and renders their requests
// before they are queued, and opens a Transport, which sends them: one request for each
// result, in order, one at a time, so that a receiver sees what happened in the order in
// which it happened. A rendered request is the same on every retry; signatures alone are
// renewed when they have become too old.
//
// A 2xx answer confirms a result. 429, 5xx and failures of the connection are tried
// again, as patiently as the receiver asks for within a minute. Every other answer is
// final, redirects included, which are never followed.
package webhook
