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

// read returns the blocks of a PEM file, at least one.
func read(path string) ([]*pem.Block, error) {
	data, err := readBytes(path)
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, fmt.Errorf("%s is empty", path)
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
		return nil, fmt.Errorf("%s holds nothing in PEM (openssl x509 -inform DER -in %[1]s converts a certificate, openssl pkey -inform DER -in %[1]s a key)", path)
	}
	return blocks, nil
}

func readBytes(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, told(path, err)
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory, not a file", path)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", path)
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
		return nil, fmt.Errorf("%s is larger than %d bytes, and no file of certificates", path, maxBytes)
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
		return fmt.Errorf("%s: %w (the user of the process must be able to read the file)", path, err)
	}
	return fmt.Errorf("%s: %w", path, err)
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
