package timeline

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/term"
)

// verb is what a command is called: its name, and of a script its own.
func verb(e world.Event) string {
	switch {
	case len(e.Command) > 1 && strings.HasPrefix(e.Command[0], "EVAL"):
		return e.Command[0] + " " + e.Command[1]
	case len(e.Command) > 0:
		return e.Command[0]
	}
	return strings.ToUpper(e.Op)
}

var (
	ownerLabel = regexp.MustCompile(`^[A-Z][a-z]*[0-9?]+$`)
	background = i18n.New("background: {command}")
	staleToken = i18n.New("refused, stale token")
)

// command is a command in as few words as tell what it does: of a script its name and the
// owner. K is the lock's key.
func (s *Story) command(e world.Event) string {
	text := s.Shorten(e.Line())
	switch {
	case strings.HasPrefix(e.Command[0], "EVAL"):
		text = verb(e)
		if i := slices.IndexFunc(e.Command, ownerLabel.MatchString); i >= 0 {
			text += " " + e.Command[i]
		}
	case strings.HasSuffix(e.Command[0], "SUBSCRIBE"):
		text = e.Command[0]
	}
	if e.Background {
		text = background.Localize(s.language, "command", text)
	}
	return text
}

func quote(order string) string { return `"` + order + `"` }

// Shorten writes K for the lock's key.
func (s *Story) Shorten(text string) string { return shortened(text, s.Key) }

func shortened(text, key string) string {
	if key == "" {
		return text
	}
	return strings.ReplaceAll(text, key, "K")
}

// reply is an answer in a word.
func (s *Story) reply(e world.Event) string {
	if len(e.Command) > 0 && strings.HasSuffix(e.Command[0], "SUBSCRIBE") && !strings.HasPrefix(e.Reply, "(error)") {
		return "OK"
	}
	if e.Kind == world.Stored && strings.HasPrefix(e.Reply, "refused") {
		return staleToken.Localize(s.language)
	}
	if e.Kind == world.Stored {
		return i18n.Text(e.Reply).Localize(s.language)
	}
	return s.Shorten(e.Reply)
}

// What a call comes back with.
var (
	countOf    = i18n.New("a count of {n}")
	nobodyHas  = i18n.New("nobody holds it")
	isUnlocked = i18n.New("unlocked")
	isClosed   = i18n.New("closed")
	isDone     = i18n.New("done")
	hasLock    = i18n.New("has the lock")
	otherHas   = i18n.New("no: somebody else has it")
	failsWith  = i18n.New("error: {error}")
)

func (s *Story) result(e world.Event) string { return s.Shorten(Result(e, s.language)) }

// Result is what a call comes back with, in words.
func Result(e world.Event, in i18n.Language) string {
	done := e.Result.Claim == world.ClaimDone
	switch {
	case e.Op == world.OpCount && done:
		return countOf.Localize(in, "n", e.Result.Count)
	case e.Op == world.OpForce && e.Result.Claim == world.ClaimRefused:
		return nobodyHas.Localize(in)
	case (e.Op == world.OpUnlock || e.Op == world.OpForce) && done:
		return isUnlocked.Localize(in)
	case e.Op == world.OpClose && done:
		return isClosed.Localize(in)
	case e.Op == world.OpRun && done:
		return isDone.Localize(in)
	case e.Result.Held:
		return hasLock.Localize(in)
	case e.Result.Error == "":
		return otherHas.Localize(in)
	}
	return failsWith.Localize(in, "error", e.Result.Error)
}

var (
	leaseEnds = i18n.New("the lease is over: no key")
	noKey     = i18n.New("no key")
	noLease   = i18n.New("{owner}, no lease")
	timeLeft  = i18n.New("{owner}, {time} left")
	orderBy   = i18n.New("{order} by {client}")
)

// redis is what Redis holds after a label, "" where the label is not about Redis.
func (s *Story) redis(l *Label) string {
	switch {
	case !l.IsRedis():
		return ""
	case len(l.After.keys) == 0 && l.Event.Kind == world.Expired:
		return leaseEnds.Localize(s.language)
	case len(l.After.keys) == 0:
		return noKey.Localize(s.language)
	}
	var parts []string
	for _, k := range l.After.keys {
		owner := k.Owner.Label
		if k.Value() != owner && owner != "" {
			owner = k.Value() + " (" + owner + ")"
		}
		parts = append(parts, s.Shorten(s.keyText(k, owner, s.Events[l.last].At-l.After.keysAt)))
	}
	return strings.Join(parts, ", ")
}

// IsRedis reports whether the label is about what Redis holds.
func (l *Label) IsRedis() bool {
	return !l.Leaves && slices.Contains([]world.Kind{world.Executed, world.Expired, world.Server}, l.Event.Kind)
}

// Holder is whose key it is: A1, after the key's value if that does not begin so.
func Holder(k world.Key) string {
	if strings.HasPrefix(k.Value(), k.Owner.Label) {
		return k.Value()
	}
	return k.Value() + " (" + k.Owner.Label + ")"
}

// keyText is "A1, 30s left".
func (s *Story) keyText(k world.Key, owner string, since time.Duration) string {
	if k.TTL == world.NoTTL {
		return noLease.Localize(s.language, "owner", owner)
	}
	return timeLeft.Localize(s.language, "owner", owner, "time", term.Short(k.TTL-since))
}

// LedgerNews is what the ledger has after a label that has changed it.
func (s *Story) LedgerNews(l *Label) string {
	if l.Event.Kind != world.Stored || l.Event.Op != world.OpInsert || l.Event.Reply != "inserted" {
		return ""
	}
	return strings.Join(s.orders(l.After.Orders), ", ")
}

func (s *Story) orders(orders []world.Order) (names []string) {
	for _, o := range orders {
		names = append(names, s.Order(o))
	}
	slices.Sort(names)
	return names
}

// Order is "order-1 by A".
func (s *Story) Order(o world.Order) string {
	return orderBy.Localize(s.language, "order", o.Name, "client", o.Client)
}

// source is the line that sent a command: mutex.go:64.
func source(e world.Event) string {
	if e.Source == nil || e.Source.File == "" || e.Kind != world.Executed {
		return ""
	}
	text := e.Source.String()
	return text[strings.LastIndexByte(text, '/')+1:]
}

// Clock is what stands in the time column of a picture.
func Clock(at, until time.Duration) []string {
	text := []string{tick(at)}
	if end := tick(until); end != text[0] {
		text = append(text, "… "+end)
	}
	return text
}

// tick is a time, the later the rounder.
func tick(at time.Duration) string {
	switch {
	case at > time.Minute:
		return term.Short(at.Round(time.Second))
	case at > 10*time.Second:
		return term.Short(at.Round(100 * time.Millisecond))
	}
	return term.Clock(at)
}

// roughly drops the fraction of a second from what is longer than one.
func roughly(d time.Duration) string {
	if d > time.Second {
		d = d.Truncate(time.Second)
	}
	return term.Short(d)
}

// told are the labels that say something in words: the others are not drawn as text.
func (s *Story) told(yield func(*Label) bool) {
	for _, l := range s.Labels {
		isEmpty := l.Leaves || s.text(l) == "" && s.redis(l) == "" && len(l.Found) == 0
		if !isEmpty && !yield(l) {
			return
		}
	}
}
