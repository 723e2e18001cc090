// Package trialcert makes certificates for trying TLS out: an authority, and a
// certificate with its key for a server and for a client.
//
// The key of the authority is thrown away: nobody can sign anything with it afterwards.
package trialcert
