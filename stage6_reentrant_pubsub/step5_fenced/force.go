package stage6

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// forceScript frees the lock, whichever client holds it, and notifies the waiters.
//
// KEYS[1] the lock's key
//
// Returns 1, or 0 if the lock was free. It is an error if the key is no lock, as for acquireScript.
var forceScript = redis.NewScript(`-- force
local owners = redis.call("HLEN", KEYS[1]) -- an error if the key is not a hash
if owners == 0 then
	return 0
end
local lock = owners == 1 and redis.pcall("HGETALL", KEYS[1]) or {"", ""} -- pcall: the user may lack this right
if not (lock.err or string.find(lock[1], ".:%d+$") and string.find(lock[2], "^[1-9]%d*$")) then
	return {err = "WRONGTYPE Operation against a key holding the wrong kind of value"}
end
redis.call("DEL", KEYS[1])
redis.call("PUBLISH", KEYS[1], "free")
return 1
`)

// ForceUnlock frees the lock, whichever client holds it, and reports whether it was held.
// The holder learns of it at its next renewal: until then two clients may work at once.
func (m *Mutex) ForceUnlock(ctx context.Context) (bool, error) {
	freed, err := forceScript.Run(ctx, m.rdb, []string{m.key}).Bool()
	if err != nil {
		return false, fmt.Errorf("stage6: force %s: %w", m.key, err)
	}
	return freed, nil
}
