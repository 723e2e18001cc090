package timespan

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bytes is a size in bytes.
type Bytes int64

// The units of sizes.
const (
	KiB Bytes = 1 << 10
	MiB Bytes = 1 << 20
	GiB Bytes = 1 << 30
)

var byteUnits = [...]struct {
	name string
	size Bytes
}{{"GiB", GiB}, {"MiB", MiB}, {"KiB", KiB}}

// ParseBytes reads an unsigned integer, alone or followed by KiB, MiB or GiB
// with or without a blank between.
func ParseBytes(s string) (Bytes, error) {
	text, unit := strings.TrimSpace(s), Bytes(1)
	for _, u := range byteUnits {
		if cut, ok := strings.CutSuffix(text, u.name); ok {
			text, unit = strings.TrimRight(cut, " "), u.size
			break
		}
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil || n > uint64(math.MaxInt64/unit) {
		return 0, fmt.Errorf("invalid size %q (an integer, or one with KiB, MiB or GiB)", s)
	}
	return Bytes(n) * unit, nil
}

// String writes the size in the largest unit that divides it.
func (b Bytes) String() string {
	for _, u := range byteUnits {
		if b != 0 && b%u.size == 0 {
			return strconv.FormatInt(int64(b/u.size), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(b), 10)
}

// MarshalText writes what UnmarshalText reads back.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText reads the grammar of ParseBytes.
func (b *Bytes) UnmarshalText(text []byte) error {
	v, err := ParseBytes(string(text))
	if err != nil {
		return err
	}
	*b = v
	return nil
}
