package timeline

import (
	"fmt"
	"slices"
	"strings"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
	"lockkata/internal/texts"
)

var (
	isInside     = texts.New("{client} is inside")
	isInsideToo  = texts.New("{client} is inside, too")
	isInsideMore = texts.New("{client} is inside, {n} times")
	lossTold     = texts.New("is told: the hold is lost")
	leaseOver    = texts.New("lease over")
	refusesOne   = texts.New("refuses {client}")
	sendsOrder   = texts.New("{call} order {order}")
	arrives      = texts.New("{command} arrives")
)

// says is what a label says in the picture, and in which style: in fewer words than in a
// terminal, where there is no drawing beside it.
func (s *story) says(l *label) (text, style string) {
	e, w := l.event, s.wording(l)
	text = s.say(w.lane, l)
	switch e.Kind {
	case world.Slept, world.Expired:
		return "", ""
	case world.Called:
		if l.leaves {
			return sendsOrder.In(s.language, "call", texts.Text(strings.ToLower(e.Op)), "order", quote(e.Text)), ""
		}
	case world.Sent:
		return s.command(e), "m"
	case world.Executed, world.Refused:
		text = s.command(e)
		switch {
		case l.times > 1:
			return fmt.Sprintf("%s → %s, %d×", text, s.reply(e), l.times), "m"
		case l.answered:
			text = s.say(wordings[world.Executed].lane, l)
		}
		if l.request.Delivered < 0 && s.isLate(l.request) {
			text = arrives.In(s.language, "command", text)
		}
	case world.Lost:
		text = lossTold.In(s.language)
	case world.Server:
		text = "▸ " + text
	case world.Returned:
		return s.returns(l)
	}
	return s.shorten(text), w.style
}

// returns is what the picture says of a call that comes back.
func (s *story) returns(l *label) (text, style string) {
	e, in := l.event, s.language
	switch {
	case e.Result.Error != "":
		parts := strings.Split(e.Result.Error, ": ")
		return failsWith.In(in, "error", parts[len(parts)-1]), "r"
	case !e.Result.Held:
		return s.result(e), "d"
	}
	text, style = isInside.In(in, "client", e.Client), "h"
	switch {
	case l.before > 0:
		text = isInsideMore.In(in, "client", e.Client, "n", l.before+1)
	case strings.ContainsAny(l.after.inside, "xe"):
		text = isInsideToo.In(in, "client", e.Client)
	}
	if slices.ContainsFunc(l.found, func(f oracle.Finding) bool { return f.Monitor == oracle.Exclusion }) {
		style = "r"
	}
	return text, style
}

// news is what a label changed in Redis, "" for nothing.
func (s *story) news(l *label) string {
	e := l.event
	if len(e.Effects) == 0 || !l.isRedis() {
		return ""
	}
	for _, k := range e.Keys {
		if k.Name == s.key || s.key == "" {
			return s.shorten(s.keyText(k, Holder(k), 0))
		}
	}
	if e.Kind == world.Expired {
		return leaseOver.In(s.language)
	}
	return noKey.In(s.language)
}
