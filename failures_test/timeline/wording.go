package timeline

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"lockkata/failures_test/world"
)

var label = regexp.MustCompile(`^[A-Z][a-z]*[0-9?]+$`)

// line is a command in as few words as tell what it does: of a script its name and
// the owner.
func (s *story) line(e world.Event) string {
	text, words := "", e.Command
	if e.Background {
		text = "background: "
	}
	switch {
	case len(words) > 1 && strings.HasPrefix(words[0], "EVAL"):
		text += "script " + words[1]
		if i := slices.IndexFunc(words, label.MatchString); i >= 0 {
			text += " " + words[i]
		}
		return text
	case len(words) > 0 && strings.HasSuffix(words[0], "SUBSCRIBE"):
		return text + words[0]
	}
	return text + s.shorten(strings.Join(words, " "))
}

// shorten writes K for the lock's key.
func (s *story) shorten(text string) string {
	if s.key == "" {
		return text
	}
	return strings.ReplaceAll(text, s.key, "K")
}

// reply is an answer in a word.
func reply(e world.Event) string {
	if strings.Contains(verb(e), "SUBSCRIBE") {
		return "OK"
	}
	return e.Reply
}

// arrival is what a reply, or a message, says when it comes by itself.
func arrival(e world.Event) string {
	if len(e.Command) == 0 {
		return "hears the message"
	}
	return "reads " + reply(e)
}

func ledgerReply(e world.Event) string {
	if strings.HasPrefix(e.Reply, "refused") {
		return "refused, stale token"
	}
	return e.Reply
}

// news is what a step changed in Redis, "" for nothing.
func (s *story) news(e world.Event) string {
	if len(e.Effects) == 0 {
		return ""
	}
	for _, k := range e.Keys {
		if k.Name != s.key && s.key != "" {
			continue
		}
		text := keyText(k, 0)
		if owner := " (" + k.Owner.Label + ")"; strings.HasPrefix(k.Value, k.Owner.Label) {
			text = strings.Replace(text, owner, "", 1)
		}
		return text
	}
	if e.Kind == world.Expired {
		return "lease over"
	}
	return "no key"
}

// attempt is what two attempts have in common that are told together.
func attempt(e world.Event) string {
	return fmt.Sprint(e.Client, " ", verb(e), " ", e.Call)
}

// repetition is the last event of a run of commands and replies that are repeated
// with nothing else in between, beginning at first; first itself if there is none.
// A run has at least three equal ones.
func repetition(events []world.Event, first int) int {
	end, times := first, map[string]int{}
	replies := map[string]string{}
	most, triples := 0, 0
	for i := first; i < len(events); {
		if events[i].Kind == world.Slept && i > first {
			i++
			continue
		}
		if i+2 >= len(events) || !isTriple(events[i:i+3]) {
			break
		}
		executed := events[i+1]
		id := attempt(executed)
		if r, seen := replies[id]; seen && r != executed.Reply || hasNewOwner(executed) {
			break
		}
		replies[id] = executed.Reply
		times[id]++
		most = max(most, times[id])
		triples++
		i += 3
		end = i - 1
	}
	if most < 3 || len(times) > triples/2 {
		return first
	}
	return end
}

// isTriple tells whether three events are a command, its execution and its reply.
func isTriple(e []world.Event) bool {
	return e[0].Kind == world.Sent && e[1].Kind == world.Executed && e[2].Kind == world.Delivered &&
		isSame(e[0], e[1]) && isSame(e[1], e[2])
}

// hasNewOwner tells whether a step changed more than a lease.
func hasNewOwner(e world.Event) bool {
	return slices.ContainsFunc(e.Effects, func(x world.Effect) bool { return x.Kind != world.Leased })
}
