package auth

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"strings"
)

// Policy knows the tokens and what each may do.
type Policy struct {
	digests   []digest // of the secrets, in the order of holders
	holders   []holder
	anonymous []permission
}

// digest is the SHA-256 of a secret, in words: they are compared faster than bytes.
type digest [4]uint64

func digestOf(secret string) (d digest) {
	sum := sha256.Sum256([]byte(secret))
	for i := range d {
		d[i] = binary.BigEndian.Uint64(sum[8*i:])
	}
	return d
}

// equal returns 1 for equal digests and 0 for others, in the same time.
func (d *digest) equal(other *digest) int {
	differ := (d[0] ^ other[0]) | (d[1] ^ other[1]) | (d[2] ^ other[2]) | (d[3] ^ other[3])
	return subtle.ConstantTimeEq(int32(uint32(differ>>32)|uint32(differ)), 0)
}

// holder is whom a token stands for.
type holder struct {
	name   string
	grants []permission
}

// Reason is why a request was rejected.
type Reason string

// The reasons. An allowed request has none.
const (
	Unauthorized Reason = "unauthorized" // no token, or one that is not known
	Forbidden    Reason = "forbidden"    // the token lacks a permission
)

// decision is the outcome for one request.
type decision struct {
	reason  Reason     // empty for a request that is allowed
	token   string     // the name of the token; empty for none
	missing permission // of a forbidden request
}

// decide judges a request by all values of its Authorization header. It needs every
// permission of needs; the first that is missing is named. Who shows something that is
// no known token does not get the anonymous permissions.
func (p *Policy) decide(values []string, needs []permission) decision {
	if len(values) == 0 {
		for _, need := range needs {
			if !covered(p.anonymous, need) {
				return decision{reason: Unauthorized}
			}
		}
		return decision{}
	}
	i, known := p.find(values)
	if !known {
		return decision{reason: Unauthorized}
	}
	h := &p.holders[i]
	for _, need := range needs {
		if !covered(h.grants, need) {
			return decision{reason: Forbidden, token: h.name, missing: need}
		}
	}
	return decision{token: h.name}
}

// find returns the number of the token that the header shows.
func (p *Policy) find(values []string) (number int, known bool) {
	if len(values) != 1 {
		return 0, false // one header speaks for one caller
	}
	scheme, token, found := strings.Cut(values[0], " ")
	if !found || !strings.EqualFold(scheme, "Bearer") {
		return 0, false
	}
	return p.compare(digestOf(token))
}

// compare looks for a digest among those of all tokens. The time it takes depends on
// their number alone: neither on how much of a secret was guessed nor on its length,
// nor on where in the list it stands.
func (p *Policy) compare(shown digest) (number int, known bool) {
	match := 0
	for i := range p.digests {
		equal := p.digests[i].equal(&shown)
		number = subtle.ConstantTimeSelect(equal, i, number)
		match |= equal
	}
	return number, match == 1
}
