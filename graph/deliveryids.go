package graph

import (
	"crypto/rand"
	"encoding/binary"
	random "math/rand/v2"
)

// DeliveryIDs makes delivery ids: random UUIDs of version 4, from a cryptographic
// generator with a seed of its own. The zero value is ready, for one goroutine.
type DeliveryIDs struct{ from *random.ChaCha8 }

// Next returns an id that was never returned before.
func (d *DeliveryIDs) Next() (id DeliveryID) {
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
