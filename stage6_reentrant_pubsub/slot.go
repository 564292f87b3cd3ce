package stage6

import "strings"

// isInOneSlot tells whether a script may use all keys of the lock in a Cluster. A
// sharded channel has a slot as well.
func (m *Mutex) isInOneSlot() bool {
	names := []string{m.token}
	if m.svc.directed {
		names = append(names, m.waiters())
	}
	if m.svc.publish == shardedPublish {
		names = append(names, m.channel)
	}
	for _, name := range names {
		if slot(name) != slot(m.key) {
			return false
		}
	}
	return true
}

// slot is the hash slot of a key in a Redis Cluster: CRC16 (XMODEM) of what is in
// its first braces, or of all of it, modulo 16384.
func slot(key string) uint16 {
	if _, after, ok := strings.Cut(key, "{"); ok {
		if tag, _, closed := strings.Cut(after, "}"); closed && tag != "" {
			key = tag
		}
	}
	var crc uint16
	for i := range len(key) {
		crc ^= uint16(key[i]) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return crc % 16384
}
