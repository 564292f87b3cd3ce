package timeline

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
	"lockkata/internal/term"
)

var (
	background   = i18n.New("background: {command}")
	inBackground = i18n.New(" in the background")
	staleToken   = i18n.New("refused, stale token")
	staleVersion = i18n.New("refused: version {read}, now {now}")
	doneBefore   = i18n.New("request {request} done before: {order}")
	atVersion    = i18n.New("{answer}, version {now}")
)

// command returns a command as typed, with K for the lock's key. For a sentence it returns the command
// alone (request), and whether it was sent in the background (how).
func (s *Story) command(e trace.Event) (command, request, how string) {
	line := s.line(e)
	if e.Background {
		return background.Localize(s.language, "command", line), line, inBackground.Localize(s.language)
	}
	return line, line, ""
}

func (s *Story) line(e trace.Event) string {
	if isSubscription(e) {
		return e.Command[0]
	}
	words := slices.Clone(e.Command)
	for i, word := range words {
		words[i] = cmp.Or(s.same[word], word)
	}
	return s.Shorten(strings.Join(words, " "))
}

func isSubscription(e trace.Event) bool {
	return len(e.Command) > 0 && strings.HasSuffix(e.Command[0], "SUBSCRIBE")
}

// Shorten replaces the lock's key by K, and that of the other lock by L.
func (s *Story) Shorten(text string) string {
	if s.Key != "" {
		text = strings.ReplaceAll(text, s.Key, "K")
	}
	if s.Other != "" {
		text = strings.ReplaceAll(text, s.Other, "L")
	}
	return text
}

// reply returns the reply to a command, shortened.
func (s *Story) reply(e trace.Event) string {
	switch {
	case isSubscription(e) && !strings.HasPrefix(e.Reply, "(error)"):
		return "OK"
	case e.Kind == trace.Stored:
		return s.answer(e.Answer)
	}
	return s.Shorten(e.Reply)
}

// answer returns the ledger's answer in words.
func (s *Story) answer(a *trace.Answer) string {
	switch a.Kind {
	case trace.StaleToken:
		return staleToken.Localize(s.language)
	case trace.StaleVersion:
		return staleVersion.Localize(s.language, "read", a.Read, "now", a.Version)
	case trace.DoneBefore:
		return doneBefore.Localize(s.language, "request", a.Before.Request, "order", s.Order(a.Before))
	}
	if a.Version > 0 {
		return atVersion.Localize(s.language, "answer", i18n.Text(a.Kind), "now", a.Version)
	}
	return i18n.Text(a.Kind).Localize(s.language)
}

// Results of calls.
var (
	countOf   = i18n.New("a count of {n}")
	nobodyHas = i18n.New("nobody holds it")
	hasLock   = i18n.New("has the lock")
	otherHas  = i18n.New("no: another client has it")
	failsWith = i18n.New("error: {error}")
	successes = map[string]i18n.Text{ // of calls that return no more than an error
		trace.OpUnlock: i18n.New("unlocked"), trace.OpForce: i18n.New("unlocked"), trace.OpClose: i18n.New("closed"), trace.OpRun: i18n.New("done"),
	}
)

// Result returns the result of a call in words.
func Result(e trace.Event, in i18n.Language) string {
	done := e.Result.Claim == trace.ClaimDone
	switch {
	case e.Op == trace.OpCount && done:
		return countOf.Localize(in, "n", e.Result.Count)
	case e.Op == trace.OpForce && e.Result.Claim == trace.ClaimRefused:
		return nobodyHas.Localize(in)
	case successes[e.Op] != "" && done:
		return successes[e.Op].Localize(in)
	case e.Result.Held:
		return hasLock.Localize(in)
	case e.Result.Error == "":
		return otherHas.Localize(in)
	}
	return failsWith.Localize(in, "error", e.Result.Error)
}

var (
	leaseOver = i18n.New("lease over")
	noKey     = i18n.New("no key")
	noLease   = i18n.New("{owner}, no lease")
	timeLeft  = i18n.New("{owner}, {time} left")
	orderBy   = i18n.New("{order} by {client}")
)

// Redis returns the keys in Redis after a label, "" if the label is not about Redis.
func (s *Story) Redis(l *Label) string {
	if !slices.Contains([]trace.Kind{trace.Executed, trace.Expired, trace.Server, trace.Arrived}, l.Event.Kind) {
		return ""
	}
	return s.keysText(l, l.After.Keys)
}

// News returns the lock's key if a label has changed it, "" if not.
func (s *Story) News(l *Label) string {
	if len(l.Event.Effects) == 0 && l.Event.Kind != trace.Arrived {
		return ""
	}
	isSame := func(k trace.Key) bool {
		return s.Other != "" && !slices.ContainsFunc(l.Event.Effects, func(x trace.Effect) bool { return s.Shorten(x.Key) == k.Name })
	}
	return s.keysText(l, slices.DeleteFunc(slices.Clone(l.After.Lock), isSame))
}

// NoKey is the mark of a server without the lock's key.
const NoKey = "·"

// Marks returns the owner of the lock's key on each of several servers: A1 A1 B1 · ·
func (s *Story) Marks(keys []trace.Key) []string {
	marks := make([]string, len(s.Bars))
	for i, server := range s.Bars {
		marks[i] = NoKey
		for _, k := range keys {
			if k.Server == server {
				marks[i] = k.Owner.Label
			}
		}
	}
	return marks
}

// keysText returns "A1, 30s left" for each key, at the end of the label.
func (s *Story) keysText(l *Label, keys []trace.Key) string {
	if len(s.Bars) > 0 {
		var columns string
		for _, mark := range s.Marks(keys) {
			columns += term.Pad(mark, len("R1")) + term.NoBreak
		}
		return strings.TrimRight(columns, " "+term.NoBreak)
	}
	var parts []string
	for _, k := range keys {
		form := timeLeft
		if k.TTL == trace.NoTTL {
			form = noLease
		}
		name := ""
		if s.Other != "" {
			name = k.Name + ": "
		}
		parts = append(parts, name+s.Shorten(form.Localize(s.language, "owner", Holder(k), "time", tick(k.TTL-(l.Until-l.After.KeysAt)))))
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, ", ")
	case l.Event.Kind == trace.Expired:
		return leaseOver.Localize(s.language)
	}
	return noKey.Localize(s.language)
}

// Holder returns the value and the owner of a key; the value alone if it begins with the owner: A1.
func Holder(k trace.Key) string {
	if strings.HasPrefix(k.Value(), k.Owner.Label) {
		return k.Value()
	}
	return k.Value() + " (" + k.Owner.Label + ")"
}

// LedgerNews returns the orders of the ledger after a label that has changed it.
func (s *Story) LedgerNews(l *Label) string {
	if e := l.Event; e.Kind != trace.Stored || e.Answer.Kind != trace.Inserted && e.Answer.Kind != trace.Committed {
		return ""
	}
	return strings.Join(s.orders(l.After.Orders), ", ")
}

func (s *Story) orders(orders []trace.Order) (names []string) {
	for _, o := range orders {
		names = append(names, s.Order(o))
	}
	slices.Sort(names)
	return names
}

// Order returns an order in words: "order-1 by A".
func (s *Story) Order(o trace.Order) string {
	return orderBy.Localize(s.language, "order", o.Name, "client", o.Client)
}

var ofLock = i18n.New("{client}, lock {name}")

// Head returns the heading of a lane: the client, and the name of its lock if that differs.
func (s *Story) Head(lane string) string {
	if names, other := s.OtherLocks[lane]; other {
		return ofLock.Localize(s.language, "client", lane, "name", strings.Join(names, " + "))
	}
	return lane
}

// source returns the line that sent a command, or at which a call panicked: mutex.go:64.
func source(e trace.Event) string {
	if e.Kind != trace.Executed && e.Kind != trace.Returned {
		return ""
	}
	return e.Source.Short()
}

// Clock returns the lines of the time column of a picture.
func Clock(at, until time.Duration) []string {
	text := []string{tick(at)}
	if end := tick(until); end != text[0] {
		text = append(text, "… "+end)
	}
	return text
}

// tick formats a duration, rounded more if it is longer.
func tick(at time.Duration) string {
	switch {
	case at > time.Minute:
		return term.Short(at.Round(time.Second))
	case at > 10*time.Second:
		return term.Short(at.Round(100 * time.Millisecond))
	}
	return term.Clock(at)
}
