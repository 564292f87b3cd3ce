package stage6

import (
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Layout names the keys and the channel of a lock in Redis. In a Cluster the keys have
// to be in one slot.
type Layout struct {
	Key     func(name string) string
	Channel func(name string) string
	Token   func(name string) string
}

// DefaultLayout is lock:{name}, lock__channel:{name} and lock:{name}:token.
var DefaultLayout = Layout{
	Key:     func(name string) string { return "lock:{" + name + "}" },
	Channel: func(name string) string { return "lock__channel:{" + name + "}" },
	Token:   func(name string) string { return "lock:{" + name + "}:token" },
}

// RedissonLayout names things as Redisson's RLock does, so that both can share a
// lock.
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
	for _, key := range keys {
		if slot(key) != slot(m.key) {
			return fmt.Errorf("stage6: lock name %.100q puts its keys into different slots of the Cluster: choose one without braces, or with a whole {tag}", m.name)
		}
	}
	return nil
}
