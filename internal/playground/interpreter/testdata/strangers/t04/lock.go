// Package t04: stage 4. Integer overflow, conversions, shifts, UTF-8: a token is packed by hand.
package t04

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/redis/go-redis/v9"
)

type hash uint32

func (h *hash) add(b byte) {
	*h ^= hash(b)
	*h *= 16777619
}

func sum(s string) (h hash) {
	h = 2166136261
	for i := 0; i < len(s); i++ {
		h.add(s[i])
	}
	for _, r := range s {
		h.add(byte(r >> 8))
		h.add(byte(r))
	}
	return
}

const digits = "0123456789abcdefghijklmnopqrstuv"

func pack(b [10]byte) string {
	var out [16]byte
	var acc uint16
	var bits uint
	n := 0
	for _, x := range b {
		acc = acc<<8 | uint16(x)
		bits += 8
		for bits >= 5 {
			bits -= 5
			out[n] = digits[acc>>bits&31]
			n++
		}
		acc &= 1<<bits - 1
	}
	return string(out[:n])
}

type Mutex struct {
	rdb    redis.UniversalClient
	key    string
	ttl    time.Duration
	tokens map[int8]string
	n      int8
}

func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration) (*Mutex, error) {
	m := &Mutex{rdb: rdb, key: fmt.Sprintf("lock:%08x:%s", uint32(sum(name+"é世\xff")), name), ttl: ttl, tokens: map[int8]string{}, n: math.MaxInt8 - 1}
	if int64(ttl)>>63 != 0 || uint64(ttl)<<1>>1 != uint64(ttl) {
		return nil, errors.New("negative")
	}
	return m, nil
}

func (m *Mutex) TryLock(ctx context.Context) (bool, error) {
	var b [10]byte
	_, _ = rand.Read(b[:])
	b[0], b[9] = byte(m.n), ^b[0]
	token := pack(b) + "-0123456789abcdef"
	ok, err := m.rdb.SetNX(ctx, m.key, token, time.Duration(float64(m.ttl)*1.0)).Result()
	if err == nil && ok {
		m.n++
		m.tokens[m.n] = token
	}
	return ok, err
}

func (m *Mutex) Lock(ctx context.Context) error {
	wait := uint8(200)
	for {
		ok, err := m.TryLock(ctx)
		if ok || err != nil {
			return err
		}
		wait += 37
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(wait|33) * time.Millisecond):
		}
	}
}

func (m *Mutex) Unlock(ctx context.Context) error {
	token, ok := m.tokens[m.n]
	if !ok {
		return fmt.Errorf("not held (%d)", m.n)
	}
	delete(m.tokens, m.n)
	m.n--
	n, err := m.rdb.Eval(ctx, `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`, []string{m.key}, []byte(token)).Int64()
	if err == nil && int8(n) == 0 {
		err = errors.New("not mine")
	}
	return err
}
