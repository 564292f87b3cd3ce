package oracle

import (
	"fmt"
	"strconv"
	"strings"

	"lockkata/failures_test/world"
)

// holdCount compares how often a client has taken the lock and not given it back
// with the count in Redis and with what HoldCount says. It looks when a call of
// the client has come back with an answer that leaves no doubt; a hold that Redis
// has lost is no matter of counting.
func holdCount(trace *world.Trace) []Finding {
	var found []Finding
	b := newBeliefs()
	owners := map[string]string{} // label → client
	busy := map[string]int{}      // client → its calls under way
	for n, e := range trace.Events {
		b.follow(e)
		for _, effect := range e.Effects {
			owners[effect.Owner.Label] = effect.Owner.Client
		}
		switch e.Kind {
		case world.Called:
			busy[e.Client]++
		case world.Returned:
			busy[e.Client]--
			if busy[e.Client] > 0 || e.Result.Claim != world.ClaimDone {
				continue
			}
			counted, there := countOf(e.Client, lastKeys(trace, n), owners)
			taken := b.holds[e.Client]
			switch {
			case there && counted != taken:
				found = append(found, findingAt(e, fmt.Sprintf(
					"%s holds the lock %s, but Redis counts %d", e.Client, times(taken), counted)))
			case e.Op == world.OpCount && e.Result.Count != counted:
				found = append(found, findingAt(e, fmt.Sprintf(
					"HoldCount tells %s %d, but Redis counts %d", e.Client, e.Result.Count, counted)))
			}
		}
	}
	return found
}

func times(n int) string {
	switch n {
	case 0:
		return "not at all"
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// countOf adds up the client's fields in the hashes that Redis holds: "A1=2".
func countOf(client string, keys []world.Key, owners map[string]string) (count int, there bool) {
	for _, key := range keys {
		if key.Type != "hash" {
			continue
		}
		for field := range strings.FieldsSeq(key.Value) {
			label, value, _ := strings.Cut(field, "=")
			if n, err := strconv.Atoi(value); err == nil && owners[label] == client {
				count, there = count+n, true
			}
		}
	}
	return count, there
}
