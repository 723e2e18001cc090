package trialcert

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Files of a set.
const (
	CAFile         = "ca.pem"
	ServerCertFile = "server.pem"
	ServerKeyFile  = "server-key.pem"
	ClientCertFile = "client.pem"
	ClientKeyFile  = "client-key.pem"
)

const (
	publicMode = 0o644
	keyMode    = 0o600
)

// ErrExist refuses to write over files that are there.
var ErrExist = errors.New("exists already")

type file struct {
	name string
	text []byte
	mode fs.FileMode
}

// Write writes the files of a set into a directory, which it makes if need be. Without
// force it writes nothing when one of them is there. With force each file is replaced as
// a whole, so a key never has the mode or the link of the file before it.
func (s *Set) Write(dir string, force bool) error {
	files := []file{
		{CAFile, s.CA, publicMode},
		{ServerCertFile, s.ServerCert, publicMode},
		{ServerKeyFile, s.ServerKey, keyMode},
		{ClientCertFile, s.ClientCert, publicMode},
		{ClientKeyFile, s.ClientKey, keyMode},
	}
	if !force {
		if err := absent(dir, files); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var temporary []string
	defer func() {
		for _, name := range temporary { // those that were renamed are gone
			_ = os.Remove(name)
		}
	}()
	for _, f := range files {
		name, err := f.prepare(dir)
		if err != nil {
			return err
		}
		temporary = append(temporary, name)
	}
	for i, f := range files {
		if err := os.Rename(temporary[i], filepath.Join(dir, f.name)); err != nil {
			return err
		}
	}
	return nil
}

// absent refuses files that are there, all of them.
func absent(dir string, files []file) error {
	var there []string
	for _, f := range files {
		name := filepath.Join(dir, f.name)
		switch _, err := os.Lstat(name); {
		case err == nil:
			there = append(there, name)
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	if len(there) > 0 {
		return fmt.Errorf("%s: %w", strings.Join(there, ", "), ErrExist)
	}
	return nil
}

// prepare writes a file under a name of its own.
func (f file) prepare(dir string) (name string, err error) {
	out, err := os.CreateTemp(dir, "."+f.name+".*") // mode 0600
	if err != nil {
		return "", err
	}
	_, err = out.Write(f.text)
	if err == nil {
		err = out.Chmod(f.mode)
	}
	if err = errors.Join(err, out.Close()); err != nil {
		_ = os.Remove(out.Name())
		return "", fmt.Errorf("write %s: %w", filepath.Join(dir, f.name), err)
	}
	return out.Name(), nil
}
