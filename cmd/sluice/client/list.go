package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// Each asks for a list, {"count": n, NAME: [...]}, and hands over its entries as they come,
// so that it need not fit into memory. An error is a Fault, or that of entry, which ends the
// list.
func (c *Client) Each(ctx context.Context, path, name string, entry func(json.RawMessage) error) error {
	resp, err := c.Send(ctx, http.MethodGet, path, "", nil)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // what is left of it is not wanted
	if resp.StatusCode/100 != 2 {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer)) // what came tells enough
		return c.Refusal(resp, body)
	}
	dec := json.NewDecoder(resp.Body)
	for {
		t, err := dec.Token()
		if err != nil {
			return c.Unreadable(http.MethodGet, path, fmt.Errorf("it has no list %s: %w", name, err))
		}
		if t == name {
			break
		}
	}
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return c.Unreadable(http.MethodGet, path, fmt.Errorf("%s is no list", name))
	}
	for dec.More() {
		var one json.RawMessage
		if err := dec.Decode(&one); err != nil {
			return c.Unreadable(http.MethodGet, path, err)
		}
		if err := entry(one); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return c.Unreadable(http.MethodGet, path, err)
	}
	return nil
}
