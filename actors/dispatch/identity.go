package dispatch

import (
	"crypto/rand"
	"encoding/binary"
	random "math/rand/v2"

	"github.com/sluicehq/sluice/graph"
)

// identities makes delivery ids: random UUIDs of version 4, from a
// cryptographic generator with a seed of its own.
type identities struct{ from *random.ChaCha8 }

func (d *identities) next() (id graph.DeliveryID) {
	if d.from == nil {
		var seed [32]byte
		_, _ = rand.Read(seed[:]) // never fails
		d.from = random.NewChaCha8(seed)
	}
	binary.LittleEndian.PutUint64(id[:8], d.from.Uint64())
	binary.LittleEndian.PutUint64(id[8:], d.from.Uint64())
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id
}
