package timeline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockkata/failures_test/world"
	"lockkata/internal/term"
)

// scene is how things stand between two events.
type scene struct {
	lanes   []string
	process map[string]string
	holds   map[string]int
	still   map[string]bool // processes that are frozen
	keys    []world.Key
	keysAt  time.Duration
	orders  []world.Order
	changed bool // the orders
}

func newScene(lanes []string) *scene {
	return &scene{lanes: lanes, process: map[string]string{}, holds: map[string]int{}, still: map[string]bool{}}
}

func (s *scene) follow(e world.Event) {
	if e.Client != "" {
		s.process[e.Client] = e.Process
	}
	s.changed = false
	switch e.Kind {
	case world.Returned:
		if e.Result.Held {
			s.holds[e.Client]++
		}
	case world.Called:
		if e.Op == world.OpUnlock && s.holds[e.Client] > 0 {
			s.holds[e.Client]--
		}
	case world.Lost:
		s.holds[e.Client] = 0
	case world.Frozen:
		s.still[e.Process] = true
	case world.Thawed:
		s.still[e.Process] = false
	case world.Crashed:
		for lane, process := range s.process {
			if process == e.Process {
				s.holds[lane] = 0
			}
		}
	case world.Executed, world.Expired, world.Server:
		s.keys, s.keysAt = e.Keys, e.At
	case world.Stored:
		s.changed = len(s.orders) != len(e.Orders)
		s.orders = e.Orders
	}
}

func (s *scene) marks() []mark {
	believers := 0
	for _, lane := range s.lanes {
		if s.holds[lane] > 0 {
			believers++
		}
	}
	marks := make([]mark, len(s.lanes))
	for i, lane := range s.lanes {
		switch {
		case s.still[s.process[lane]]:
			marks[i] = stopped
		case s.holds[lane] > 0 && believers > 1:
			marks[i] = together
		case s.holds[lane] > 0:
			marks[i] = inside
		}
	}
	return marks
}

// redis is what the row's Redis column says: nothing while nothing is new there.
func (s *scene) redis(e world.Event, now time.Duration) string {
	switch e.Kind {
	case world.Executed, world.Expired, world.Server:
	default:
		return ""
	}
	if len(s.keys) == 0 {
		if e.Kind == world.Expired {
			return "the lease is over: no key"
		}
		return "no key"
	}
	var parts []string
	for _, k := range s.keys {
		parts = append(parts, keyText(k, now-s.keysAt))
	}
	return strings.Join(parts, ", ")
}

// keyText is "A1, 30s left", with the value before it where it does not tell
// whose it is.
func keyText(k world.Key, since time.Duration) string {
	lease := "no lease"
	if k.TTL != world.NoTTL {
		lease = term.Short(k.TTL-since) + " left"
	}
	owner := k.Owner.Label
	if k.Value != owner && owner != "" {
		owner = fmt.Sprintf("%s (%s)", k.Value, owner)
	}
	return owner + ", " + lease
}

func (s *scene) ledger() string {
	if !s.changed {
		return ""
	}
	var names []string
	for _, o := range s.orders {
		names = append(names, o.Name+" by "+o.Client)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
