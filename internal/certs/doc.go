// Package certs reads the files of TLS: certificates with their keys, and bundles of
// roots, all in PEM.
//
// Every error names the file, what is wrong with it and how to mend it, and shows nothing
// of a key. Keys are PKCS#8, PKCS#1 or SEC 1, and not encrypted. A file that is not
// regular, or larger than any certificate, is refused before it is read.
//
// Keep is a certificate that is renewed on disk while it is used:
//
//	keep, err := certs.NewKeep("tls.crt", "tls.key", time.Now, failed)
//	config.GetClientCertificate = keep.GetClientCertificate // reads changed files again
package certs
