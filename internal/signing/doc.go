// Package signing signs requests, so that their receiver knows who sent them and that
// nobody changed them. There are three schemes:
//
//   - standard: the headers webhook-id, webhook-timestamp and webhook-signature of the
//     Standard Webhooks specification, HMAC-SHA256 over id, timestamp and body.
//   - github: the header X-Hub-Signature-256, HMAC-SHA256 over the body.
//   - custom: headers, digest and signed text as configured.
//
// A signature covers the exact bytes of the body, the id of the message and the time of
// its delivery. They are the same on every retry, and so are the headers; but receivers
// of the standard scheme refuse what is five minutes old, so an attempt that starts more
// than RenewAfter after the delivery is signed with its own time and the same id.
//
// While a secret is replaced, standard and custom sign with both: the headers have one
// signature for each, separated by a space.
package signing
