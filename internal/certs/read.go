package certs

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// maxBytes is the largest file that is read: the bundles of systems have a fourth of it.
const maxBytes = 1 << 20

// Types of blocks in PEM.
const (
	certificateBlock = "CERTIFICATE"
	keySuffix        = "PRIVATE KEY"
)

// Fault is what is wrong with a file.
type Fault struct {
	Path  string
	What  string // with how to mend it
	Key   bool   // it is the file of a key
	Dated bool   // it can be read, but its certificate is not current
	cause error  // may be nil
}

// Error names the file.
func (f *Fault) Error() string { return f.Path + ": " + f.What }

// Unwrap gives the cause.
func (f *Fault) Unwrap() error { return f.cause }

func faultf(path string, cause error, format string, args ...any) *Fault {
	return &Fault{Path: path, What: fmt.Sprintf(format, args...), cause: cause}
}

// Retell has tell put each Fault that err joins into words of its own.
func Retell(err error, tell func(*Fault) error) error {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		var list []error
		for _, e := range several.Unwrap() {
			list = append(list, Retell(e, tell))
		}
		return errors.Join(list...)
	}
	var f *Fault
	if errors.As(err, &f) {
		return tell(f)
	}
	return err
}

// read returns the blocks of a PEM file, at least one.
func read(path string) ([]*pem.Block, error) {
	data, err := readBytes(path)
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, faultf(path, nil, "the file is empty")
	}
	var blocks []*pem.Block
	for {
		var b *pem.Block
		if b, data = pem.Decode(data); b == nil {
			break
		}
		blocks = append(blocks, b)
	}
	if len(blocks) == 0 {
		return nil, faultf(path, nil, "the file holds nothing in PEM (openssl x509 -inform DER -in %[1]s converts a certificate, openssl pkey -inform DER -in %[1]s a key)", path)
	}
	return blocks, nil
}

func readBytes(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, told(path, err)
	case info.IsDir():
		return nil, faultf(path, nil, "is a directory")
	case !info.Mode().IsRegular():
		return nil, faultf(path, nil, "is no regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, told(path, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	switch {
	case err != nil:
		return nil, told(path, err)
	case len(data) > maxBytes:
		return nil, faultf(path, nil, "the file is larger than %d bytes, and none of certificates", maxBytes)
	}
	return data, nil
}

// told puts the path in front of an error of the file system.
func told(path string, err error) error {
	var fault *fs.PathError
	if errors.As(err, &fault) {
		err = fault.Err
	}
	if errors.Is(err, fs.ErrPermission) {
		return faultf(path, err, "%v (the user of the process must be able to read the file)", err)
	}
	return faultf(path, err, "%v", err)
}

// kinds names the types of blocks, each once.
func kinds(blocks []*pem.Block) string {
	var names []string
	seen := make(map[string]bool)
	for _, b := range blocks {
		if !seen[b.Type] {
			seen[b.Type] = true
			names = append(names, b.Type)
		}
	}
	return strings.Join(names, ", ")
}

// encrypted reports whether a block is a key that needs a password.
func encrypted(b *pem.Block) bool {
	return b.Type == "ENCRYPTED PRIVATE KEY" || strings.HasSuffix(b.Type, keySuffix) && strings.Contains(b.Headers["Proc-Type"], "ENCRYPTED")
}
