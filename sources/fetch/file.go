package fetch

import (
	"errors"
	"io"
	"os"
)

// file reads a file.
func (c *Client) file(d *Declaration) ([]byte, error) {
	data, err := readFile(d.Path, d.MaxBody)
	var path *os.PathError
	switch {
	case errors.Is(err, errTooLarge):
		return nil, fault(ResourceLimit, "%s exceeds %d byte limit", d.Path, d.MaxBody)
	case errors.As(err, &path):
		err = path.Err
	}
	if err != nil {
		return nil, &Error{Kind: Fetch, Detail: "failed to read " + d.Path + ": " + err.Error(), cause: err}
	}
	return data, nil
}

var errTooLarge = errors.New("it is too large")

// readFile returns the content of a regular file of at most so many bytes.
func readFile(name string, limit int64) ([]byte, error) {
	info, err := os.Stat(name) // to open a named pipe would wait for whoever writes
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errors.New("it is a directory")
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no regular file")
	case info.Size() > limit:
		return nil, errTooLarge
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if int64(len(data)) > limit { // it has grown, or does not tell its size
		return nil, errTooLarge
	}
	return data, err
}
