package stage6

import (
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Layout names the keys and channels of a lock in Redis. In a Cluster they have
// to be in one slot, but for the channel, which has to be only with
// WithShardedPubSub.
type Layout struct {
	Key     func(name string) string
	Channel func(name string) string
	Token   func(name string) string
	Waiters func(name string) string // only for WithDirectedWakeups
}

// DefaultLayout is lock:{name}, lock__channel:{name}, lock:{name}:token and
// lock:{name}:waiters.
var DefaultLayout = Layout{
	Key:     func(name string) string { return "lock:{" + name + "}" },
	Channel: func(name string) string { return "lock__channel:{" + name + "}" },
	Token:   func(name string) string { return "lock:{" + name + "}:token" },
	Waiters: func(name string) string { return "lock:{" + name + "}:waiters" },
}

// RedissonLayout names things as Redisson's RLock does, so that both can share a
// lock. Redisson knows no directed wake-ups.
var RedissonLayout = Layout{
	Key:     func(name string) string { return name },
	Channel: func(name string) string { return "redisson_lock__channel:" + tagged(name) },
	Token:   func(name string) string { return tagged(name) + ":token" },
}

// tagged puts a name into braces unless it has some.
func tagged(name string) string {
	if strings.Contains(name, "{") {
		return name
	}
	return "{" + name + "}"
}

// checkKeys refuses what a layout must not answer: an empty name, two things under
// one key, and in a Cluster keys that are on different nodes.
func (m *Mutex) checkKeys() error {
	keys := []string{m.key, m.token}
	if m.svc.directed {
		keys = append(keys, m.waiters())
	}
	seen := map[string]bool{"": true}
	for _, key := range append(keys, "\x00"+m.channel) { // a channel may have a key's name
		if seen[key] || key == "\x00" {
			return fmt.Errorf("stage6: lock name %.100q: the layout gives no name, or one name to two things", m.name)
		}
		seen[key] = true
	}
	if _, cluster := m.svc.rdb.(*redis.ClusterClient); !cluster {
		return nil
	}
	if m.svc.publish == shardedPublish {
		keys = append(keys, m.channel)
	}
	for _, key := range keys {
		if slot(key) != slot(m.key) {
			return fmt.Errorf("stage6: lock name %.100q puts its keys into different slots of the Cluster: choose one without braces, or with a whole {tag}", m.name)
		}
	}
	return nil
}
