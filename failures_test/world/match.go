package world

import (
	"slices"
	"strconv"
	"strings"

	"lockkata/failures_test/trace"
)

// Any matches every command to Redis.
func Any(c Command) bool { return !trace.IsStore(c.Name) }

// Write matches a command to Redis that is not read-only.
func Write(c Command) bool { return Any(c) && c.Write }

// Background matches what a goroutine started by the lock sends, such as its watchdog.
func Background(c Command) bool { return c.Background }

// Installs matches a command that has created a key in Redis.
func Installs(c Command) bool { return c.Effects.Include(trace.Installed) }

// Extends matches a renewal that has extended a lease.
func Extends(c Command) bool { return c.Background && c.Effects.Include(trace.Leased) }

// Insert matches the write to the ledger.
func Insert(c Command) bool { return c.Name == trace.OpInsert }

// Named matches a command by its name.
func Named(name string) Match {
	return func(c Command) bool { return Any(c) && c.Name == strings.ToUpper(name) }
}

// Of restricts a match to the commands of one operation, such as OpUnlock.
func Of(op string, m Match) Match {
	return func(c Command) bool { return c.Op == op && m(c) }
}

// On restricts a match to the commands for those servers.
func On(m Match, nodes ...*Node) Match {
	return func(c Command) bool {
		return m(c) && slices.ContainsFunc(nodes, func(n *Node) bool { return n.Name == c.Server })
	}
}

// CrossesSlots matches a command with keys in different slots, which a Redis Cluster refuses. The
// slot depends on the hash tag of the key, its first part in braces, or on the whole key.
func CrossesSlots(c Command) bool {
	keys := keysOf(c.Args)
	return slices.ContainsFunc(keys, func(key string) bool { return hashTag(key) != hashTag(keys[0]) })
}

// keysOf returns the part of a command that is its keys, if it may have several.
func keysOf(args []string) []string {
	from, to := keySpan(args)
	return args[from:to]
}

// keySpan returns where the keys of a command are that may have several; twice 0 for any other command.
func keySpan(args []string) (from, to int) {
	name := strings.ToUpper(args[0])
	switch {
	case strings.HasPrefix(name, "EVAL") && len(args) > 2:
		n, _ := strconv.Atoi(args[2])
		return 3, min(3+max(n, 0), len(args))
	case slices.Contains([]string{"DEL", "EXISTS", "MGET", "UNLINK"}, name):
		return 1, len(args)
	}
	return 0, 0
}

func hashTag(key string) string {
	_, braced, _ := strings.Cut(key, "{")
	if tag, _, found := strings.Cut(braced, "}"); found && tag != "" {
		return tag
	}
	return key
}

// Nth matches the nth command that m matches, counted from 1. The match counts its calls: use it in
// one fault only.
func Nth(n int, m Match) Match {
	seen := 0
	return func(c Command) bool {
		if !m(c) {
			return false
		}
		seen++
		return seen == n
	}
}

// Grants matches the command that completes an acquire: afterwards the key exists and has a lease.
// In stage 1 that is PEXPIRE, not SETNX.
func (w *World) Grants(c Command) bool {
	isAny := func(string, KeyState) bool { return true }
	return c.Effects.Include(trace.Installed, trace.Leased) && c.Op != trace.OpUnlock && w.of(c).keys.haveLease(isAny)
}

// Has matches a command that is sent while the client has a key with a lease in Redis.
func (c *Client) Has(sent Command) bool {
	keys := c.world.of(sent).keys
	return keys.haveLease(func(name string, k KeyState) bool { return keys.ownerOf(name, k).Client == c.Name })
}

// Renews matches a renewal that is due: a background write while a lease has run for a fifteenth of
// its length or more. A lock may also renew immediately after the acquire, which does not match.
func (w *World) Renews(c Command) bool {
	on := w.of(c)
	old := on.server.Now().Add(w.Lease - w.Lease/15)
	return c.Background && Write(c) && on.keys.haveLease(func(_ string, k KeyState) bool { return k.Expires.Before(old) })
}
