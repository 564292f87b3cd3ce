package schedule

import (
	"slices"
	"time"

	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"

	"github.com/redis/go-redis/v9"
)

// Setup is what a schedule runs: a lock, clients that use it, and what may happen
// to them.
type Setup struct {
	Subject  failures.Subject
	Clients  int  // 2 or 3
	Attempts int  // how often each client asks for the lock
	Together bool // all clients but the first are goroutines of one process
	// From is where the run of a failure is taken over; nil for a run of its own. Its
	// clients are then the failure's, and so is its world.
	From     *Start
	Env      Env
	Property Property
}

// Env is what may happen to clients.
type Env struct {
	Name   string
	Short  bool           // nothing waits for longer than a sixtieth of a lease
	Faults []world.Action // of which one may happen
	About  string
}

// has tells whether a fault may happen.
func (e Env) has(fault world.Action) bool { return slices.Contains(e.Faults, fault) }

// Envs are all environments.
var Envs = []Env{
	{Name: "async", About: "commands, replies and writes are late by any time"},
	{Name: "short-pauses", Short: true, About: "nothing is late by more than a sixtieth of a lease"},
	{Name: "crash", Short: true, Faults: []world.Action{world.Crash}, About: "short pauses, and one process may crash"},
	{Name: "pause", Faults: []world.Action{world.Freeze}, About: "async, and one process may stand still"},
	{Name: "reply-loss", Short: true, Faults: []world.Action{world.Lose},
		About: "short pauses, and one reply may be lost; go-redis repeats commands as it does by default"},
	{Name: "refusal", Short: true, Faults: []world.Action{world.Refuse}, About: "short pauses, and one command is refused, as a full Redis does"},
	{Name: "leave", Short: true, Faults: []world.Action{world.Leave}, About: "short pauses, and one caller may give up"},
}

// Property is a rule that no schedule may break.
type Property struct {
	Name   string
	Breaks []oracle.Monitor
	Wait   bool        // clients wait for the lock with Lock; else they ask with TryLock
	Guard  world.Guard // of the ledger
	Needs  []failures.Feature
	About  string
}

// Suits tells whether a lock has what the property is about.
func (p Property) Suits(s failures.Subject) bool {
	return !slices.ContainsFunc(p.Needs, func(f failures.Feature) bool { return !slices.Contains(s.Has, f) })
}

// Properties are all properties.
var Properties = []Property{
	{Name: "leak", Breaks: []oracle.Monitor{oracle.Leak},
		About: "no key stays for ever, or beyond its use"},
	{Name: "wrong-delete", Breaks: []oracle.Monitor{oracle.WrongDelete, oracle.WrongExtend},
		About: "nobody removes, overwrites or renews what somebody else installed"},
	{Name: "exclusion", Breaks: []oracle.Monitor{oracle.Exclusion},
		About: "no two clients believe at once that they hold the lock"},
	{Name: "damage", Breaks: []oracle.Monitor{oracle.Damage},
		About: "the ledger takes no order twice"},
	{Name: "truth", Breaks: []oracle.Monitor{oracle.Truth},
		About: "every call reports what it really did"},
	{Name: "watchdog", Breaks: []oracle.Monitor{oracle.Watchdog}, Needs: []failures.Feature{failures.Watchdog},
		About: "a holder's key does not expire, and nothing renews a hold that is over"},
	{Name: "wake-up", Breaks: []oracle.Monitor{oracle.LostWakeUp, oracle.Deadlock}, Wait: true, Needs: []failures.Feature{failures.PubSub},
		About: "nobody waits beside a free lock"},
	{Name: "damage-fenced", Breaks: []oracle.Monitor{oracle.Damage}, Guard: world.TokenGuard, Needs: []failures.Feature{failures.Fencing},
		About: "the ledger takes no order twice if it refuses old tokens"},
}

// lease is the locks' lease in a schedule.
const lease = 30 * time.Second

// patience is how long a client waits for a reply: a command is as late as the schedule
// wants, but for contexts.
const patience = time.Hour

// horizon is how long a schedule lasts at most: a waiter has had three leases.
const horizon = 3 * lease

// config is the world of a setup.
func (s Setup) config() world.Config {
	if s.From != nil {
		return s.From.Failure.Config(s.Subject)
	}
	c := s.Subject.Config()
	c.Lease, c.Guard = lease, s.Property.Guard
	c.Client = func(o *redis.Options) {
		o.ReadTimeout = patience
		if s.Env.has(world.Lose) {
			world.DefaultRetries(o)
		}
	}
	return c
}
