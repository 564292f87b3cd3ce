package timeline

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"lockkata/failures_test/world"
	"lockkata/internal/term"
	"lockkata/internal/texts"
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
	background = texts.New("background: {command}")
	staleToken = texts.New("refused, stale token")
)

// command is a command in as few words as tell what it does: of a script its name and the
// owner. K is the lock's key.
func (s *story) command(e world.Event) string {
	text := s.shorten(e.Line())
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
		text = background.In(s.language, "command", text)
	}
	return text
}

func quote(order string) string { return `"` + order + `"` }

// shorten writes K for the lock's key.
func (s *story) shorten(text string) string { return shortened(text, s.key) }

func shortened(text, key string) string {
	if key == "" {
		return text
	}
	return strings.ReplaceAll(text, key, "K")
}

// reply is an answer in a word.
func (s *story) reply(e world.Event) string {
	if len(e.Command) > 0 && strings.HasSuffix(e.Command[0], "SUBSCRIBE") && !strings.HasPrefix(e.Reply, "(error)") {
		return "OK"
	}
	if e.Kind == world.Stored && strings.HasPrefix(e.Reply, "refused") {
		return staleToken.In(s.language)
	}
	if e.Kind == world.Stored {
		return texts.Text(e.Reply).In(s.language)
	}
	return s.shorten(e.Reply)
}

// What a call comes back with.
var (
	countOf    = texts.New("a count of {n}")
	nobodyHas  = texts.New("nobody holds it")
	isUnlocked = texts.New("unlocked")
	isClosed   = texts.New("closed")
	isDone     = texts.New("done")
	hasLock    = texts.New("has the lock")
	otherHas   = texts.New("no: somebody else has it")
	failsWith  = texts.New("error: {error}")
)

func (s *story) result(e world.Event) string { return s.shorten(Result(e, s.language)) }

// Result is what a call comes back with, in words.
func Result(e world.Event, in texts.Language) string {
	done := e.Result.Claim == world.ClaimDone
	switch {
	case e.Op == world.OpCount && done:
		return countOf.In(in, "n", e.Result.Count)
	case e.Op == world.OpForce && e.Result.Claim == world.ClaimRefused:
		return nobodyHas.In(in)
	case (e.Op == world.OpUnlock || e.Op == world.OpForce) && done:
		return isUnlocked.In(in)
	case e.Op == world.OpClose && done:
		return isClosed.In(in)
	case e.Op == world.OpRun && done:
		return isDone.In(in)
	case e.Result.Held:
		return hasLock.In(in)
	case e.Result.Error == "":
		return otherHas.In(in)
	}
	return failsWith.In(in, "error", e.Result.Error)
}

var (
	leaseEnds = texts.New("the lease is over: no key")
	noKey     = texts.New("no key")
	noLease   = texts.New("{owner}, no lease")
	timeLeft  = texts.New("{owner}, {time} left")
	orderBy   = texts.New("{order} by {client}")
)

// redis is what Redis holds after a label, "" where the label is not about Redis.
func (s *story) redis(l *label) string {
	switch {
	case !l.isRedis():
		return ""
	case len(l.after.keys) == 0 && l.event.Kind == world.Expired:
		return leaseEnds.In(s.language)
	case len(l.after.keys) == 0:
		return noKey.In(s.language)
	}
	var parts []string
	for _, k := range l.after.keys {
		owner := k.Owner.Label
		if k.Value != owner && owner != "" {
			owner = k.Value + " (" + owner + ")"
		}
		parts = append(parts, s.shorten(s.keyText(k, owner, s.Events[l.last].At-l.after.keysAt)))
	}
	return strings.Join(parts, ", ")
}

// isRedis tells whether the label is about what Redis holds.
func (l *label) isRedis() bool {
	return !l.leaves && slices.Contains([]world.Kind{world.Executed, world.Expired, world.Server}, l.event.Kind)
}

// Holder is whose key it is: A1, after the key's value if that does not begin so.
func Holder(k world.Key) string {
	if strings.HasPrefix(k.Value, k.Owner.Label) {
		return k.Value
	}
	return k.Value + " (" + k.Owner.Label + ")"
}

// keyText is "A1, 30s left".
func (s *story) keyText(k world.Key, owner string, since time.Duration) string {
	if k.TTL == world.NoTTL {
		return noLease.In(s.language, "owner", owner)
	}
	return timeLeft.In(s.language, "owner", owner, "time", term.Short(k.TTL-since))
}

// ledger is what the ledger has after a label that has changed it.
func (s *story) ledgerNews(l *label) string {
	if l.event.Kind != world.Stored || l.event.Op != world.OpInsert || l.event.Reply != "inserted" {
		return ""
	}
	return strings.Join(s.orders(l.after.orders), ", ")
}

func (s *story) orders(orders []world.Order) (names []string) {
	for _, o := range orders {
		names = append(names, orderBy.In(s.language, "order", o.Name, "client", o.Client))
	}
	slices.Sort(names)
	return names
}

// source is the line that sent a command: mutex.go:64.
func source(e world.Event) string {
	if e.Source == nil || e.Source.File == "" || e.Kind != world.Executed {
		return ""
	}
	text := e.Source.String()
	return text[strings.LastIndexByte(text, '/')+1:]
}

// roughly drops the fraction of a second from what is longer than one.
func roughly(d time.Duration) string {
	if d > time.Second {
		d = d.Truncate(time.Second)
	}
	return term.Short(d)
}

// told are the labels that say something in words: the others are not drawn as text.
func (s *story) told(yield func(*label) bool) {
	for _, l := range s.labels {
		isEmpty := l.leaves || s.text(l) == "" && s.redis(l) == "" && len(l.found) == 0
		if !isEmpty && !yield(l) {
			return
		}
	}
}
