package files

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
)

type key string

const prefix key = "files"

func (k key) with(s string) key { return k + "/" + key(s) }

var order string

type owner [16]byte

func newOwner() (o owner) {
	rand.Read(o[:])
	return
}

func (o owner) MarshalBinary() ([]byte, error) { return []byte(hex.EncodeToString(o[:])), nil }

func (o *owner) UnmarshalBinary(b []byte) error {
	raw, err := hex.DecodeString(string(b))
	if err != nil {
		return fmt.Errorf("owner %q: %w", b, err)
	}
	copy(o[:], raw)
	return nil
}

func init() { order += "c" }
