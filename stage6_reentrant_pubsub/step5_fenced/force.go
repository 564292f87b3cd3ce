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
// Returns 1, or 0 if the lock was free.
var forceScript = redis.NewScript(`-- force
if redis.call("DEL", KEYS[1]) == 0 then
	return 0
end
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
