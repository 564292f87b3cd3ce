package schedule

import (
	"slices"
	"strconv"
	"strings"
	"time"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

// Setup is what a schedule runs: a lock, its clients, and the possible faults.
type Setup struct {
	Subject  failures.Subject
	Clients  int  // 2 or 3
	Attempts int  // acquires of each client
	Together bool // all clients but the first are goroutines of one process
	// From is the moment of a failure's run from which the schedule continues, with the failure's
	// clients and config; nil for a new run.
	From     *Start
	Env      Env
	Property Property
}

// Env is an environment: the possible delays and faults.
type Env struct {
	Name   string
	Short  bool           // no delay is longer than a sixtieth of a lease
	Faults []world.Action // one of them can happen
	About  i18n.Text
}

// has reports whether a fault can happen.
func (e Env) has(fault world.Action) bool { return slices.Contains(e.Faults, fault) }

var Envs = []Env{
	{Name: "async", About: i18n.New("commands, replies and writes can be delayed by any time")},
	{Name: "short-pauses", Short: true, About: i18n.New("no delay is longer than a sixtieth of a lease")},
	{Name: "crash", Short: true, Faults: []world.Action{world.Crash}, About: i18n.New("short pauses, and one process may crash")},
	{Name: "pause", Faults: []world.Action{world.Freeze}, About: i18n.New("async, and one process may pause")},
	{Name: "reply-loss", Short: true, Faults: []world.Action{world.Lose},
		About: i18n.New("short pauses, and one reply may be lost; go-redis repeats commands as it does by default")},
	{Name: "refusal", Short: true, Faults: []world.Action{world.Refuse}, About: i18n.New("short pauses, and Redis may refuse one command, as when its memory is full")},
	{Name: "leave", Short: true, Faults: []world.Action{world.Leave}, About: i18n.New("short pauses, and one caller may give up")},
}

// Property is a rule that no schedule may break.
type Property struct {
	Name   string
	Breaks []oracle.Rule
	Wait   bool        // clients call Lock instead of TryLock
	Guard  world.Guard // of the ledger
	Needs  []catalogue.Feature
	About  i18n.Text
}

// Suits reports whether a lock has the features that the property needs.
func (p Property) Suits(s failures.Subject) bool {
	return !slices.ContainsFunc(p.Needs, func(f catalogue.Feature) bool { return !slices.Contains(s.Has, f) })
}

var Properties = []Property{
	{Name: "leak", Breaks: []oracle.Rule{oracle.Leak},
		About: i18n.New("no key is left behind, forever or after its use")},
	{Name: "wrong-delete", Breaks: []oracle.Rule{oracle.WrongDelete, oracle.WrongExtend},
		About: i18n.New("no client removes, overwrites or renews another client's key")},
	{Name: "exclusion", Breaks: []oracle.Rule{oracle.Exclusion},
		About: i18n.New("no two clients believe at once that they hold the lock")},
	{Name: "damage", Breaks: []oracle.Rule{oracle.Damage},
		About: i18n.New("the ledger never accepts an order twice")},
	{Name: "truth", Breaks: []oracle.Rule{oracle.Truth},
		About: i18n.New("every call reports what it really did")},
	{Name: "watchdog", Breaks: []oracle.Rule{oracle.Watchdog}, Needs: []catalogue.Feature{catalogue.Watchdog},
		About: i18n.New("a holder's key does not expire, and a hold that has ended is not renewed")},
	{Name: "wake-up", Breaks: []oracle.Rule{oracle.LostWakeUp, oracle.Deadlock}, Wait: true, Needs: []catalogue.Feature{catalogue.PubSub},
		About: i18n.New("no client waits while the lock is free")},
	{Name: "damage-fenced", Breaks: []oracle.Rule{oracle.Damage}, Guard: world.TokenGuard, Needs: []catalogue.Feature{catalogue.Fencing},
		About: i18n.New("the ledger never accepts an order twice if it refuses old tokens")},
}

var named = i18n.New("{word} ({id})")

func init() {
	for _, e := range Envs {
		i18n.Register(i18n.Text(e.Name))
	}
	for _, p := range Properties {
		i18n.Register(i18n.Text(p.Name))
	}
}

// NameIn returns the name of a property or an environment in a language: its ID, with a word for it
// in front where that differs.
func NameIn(l i18n.Language, id string) string {
	word := i18n.Text(id).Localize(l)
	if word == id {
		return id
	}
	return named.Localize(l, "word", word, "id", id)
}

// lease is the lease of the locks in a schedule.
const lease = 30 * time.Second

// patience is the clients' read timeout: a schedule can delay a command by any time.
const patience = time.Hour

// horizon is the maximum duration of a schedule: three leases for a waiter.
const horizon = 3 * lease

// config returns the world's config.
func (s Setup) config() world.Config {
	if s.From != nil {
		return s.Subject.ConfigFor(s.From.Failure)
	}
	c := s.Subject.Config()
	c.Lease, c.Guard = lease, s.Property.Guard
	if s.Env.has(world.Lose) {
		c.Client = world.DefaultRetries
	}
	c.Client.ReadTimeout = patience
	return c
}

// Start is a moment of a failure's run, at which a schedule takes over from its script.
type Start struct {
	Failure catalogue.Failure
	Events  int // the number of events so far
}

// startAt separates the failure and the number of events in a schedule's string.
const startAt = "@"

// String returns a text such as check-then-delete@12.
func (s Start) String() string { return s.Failure.ID + startAt + strconv.Itoa(s.Events) }

// readStart parses the text of String.
func readStart(text string) (*Start, error) {
	id, count, _ := strings.Cut(text, startAt)
	f, found := catalogue.Find(id)
	if !found {
		return nil, noStart.Args("text", strconv.Quote(text), "name", strconv.Quote(id))
	}
	events, err := strconv.Atoi(count)
	if err != nil || events < 1 {
		return nil, badStart.Args("text", strconv.Quote(text), "sign", startAt)
	}
	return &Start{f, events}, nil
}

// takeOver returns actors for the clients of a failure's run: each finishes its call and then
// behaves like every [actor]. It adds clients if there are fewer than two.
func takeOver(w *world.World, setup Setup) (all []*actor) {
	for len(w.Actors()) < 2 {
		w.Client(string(rune('A' + len(w.Actors()))))
	}
	w.Patient(patience)
	end := w.Trace().End()
	for _, c := range w.Actors() {
		if !end.Condition(end.Process(c.Name)).Dead {
			a := &actor{Client: c, setup: setup, left: setup.Attempts, call: c.LastCall(), taken: true}
			owes := end.Holds(c.Name)
			if owes > 0 && a.isInside() { // its last call is about one of these holds
				owes--
			}
			a.owes = owes
			all = append(all, a)
		}
	}
	return all
}
