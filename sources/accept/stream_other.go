//go:build !unix

package accept

import "net"

// systemStream knows no connections that can be waited for without memory.
func systemStream(net.Conn) stream { return nil }
