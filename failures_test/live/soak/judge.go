//go:build unix

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// violationKind is a way in which a lock can break its word.
type violationKind string

// The kinds, in the order of the report.
const (
	lostUpdate      violationKind = "lost updates"
	overlap         violationKind = "overlaps of believed holds"
	nonLinearizable violationKind = "non-linearizable histories"
	wrongRefusal    violationKind = "holders refused by the ledger"
	wrongReentry    violationKind = "wrong re-entries"
	unserved        violationKind = "unserved waiters"
	leakedKey       violationKind = "leaked keys"
	deadWorker      violationKind = "workers that ended by themselves"
)

var violationKinds = []violationKind{
	lostUpdate, overlap, nonLinearizable, wrongRefusal, wrongReentry, unserved, leakedKey, deadWorker,
}

// violation is one of them, with a timeline.
type violation struct {
	kind violationKind
	text string
}

// judgement is what is measured by, beside the history.
type judgement struct {
	locks  int
	fenced bool
	lease  moment
	slack  moment // how late a running process may notice what it has to notice
	until  moment // when the workers were told to end
}

// judge finds what was wrong, except for what a model has to say.
func (h *history) judge(j judgement) []violation {
	var found []violation
	for _, n := range h.notes {
		text := n.text
		if len(n.of) > 0 {
			text += "\n" + h.timeline(n.lock, n.of)
		}
		found = append(found, violation{n.kind, text})
	}
	for lock := range j.locks {
		found = append(found, h.overlaps(j, lock)...)
		found = append(found, h.refusals(j, lock)...)
		found = append(found, h.waits(j, lock)...)
	}
	return found
}

// overlaps finds two who both believed that they held the lock. What a process did
// not notice while it stood still does not count, nor what it noticed a moment too
// late; and who had his hold taken away by force, or by a server that forgot it,
// may believe in it for one more lease.
func (h *history) overlaps(j judgement, lock int) []violation {
	var found []violation
	granted := h.granted(lock)
	for i, a := range granted {
		sure := a.sureUntil(j.slack)
		for _, b := range granted[i+1:] {
			if b.answered >= sure {
				break
			}
			from, to := b.answered, min(sure, b.sureUntil(0))
			for _, s := range h.disturbed(a, j.slack) {
				if s.from <= to {
					from = max(from, s.to+h.learnsWithin(a, s, j))
				}
				if s.from >= a.answered {
					break // this one took it away for certain: the next ones took another's
				}
			}
			if to > from {
				found = append(found, violation{overlap, fmt.Sprintf("%s and %s both held lock %d, for %d ms at least\n%s",
					a, b, lock, (to - from).Milliseconds(), h.timeline(lock, []int64{a.id, b.id}))})
			}
		}
	}
	return found
}

// learnsWithin is how long a holder may believe in a hold that was taken away: until
// its next renewal, with time for that to fail once; or, where it is not renewed or
// a fault is in the way, until its lease is over.
func (h *history) learnsWithin(o *hold, taken span, j judgement) moment {
	if o.fixed {
		return j.lease
	}
	for _, f := range h.faults {
		mine := f.target == server || strings.HasPrefix(f.target, o.by.name)
		if mine && f.from <= taken.to+j.lease && f.to >= taken.from-j.slack {
			return j.lease
		}
	}
	return j.lease * 3 / 4
}

// refusals finds holders whom the ledger turned away, though their unlock says that
// they had held the lock all the time.
func (h *history) refusals(j judgement, lock int) []violation {
	var found []violation
	if !j.fenced {
		return nil
	}
	for _, o := range h.granted(lock) {
		if o.turnedAway && o.became == freed && len(h.disturbed(o, j.slack)) == 0 {
			found = append(found, violation{wrongRefusal, fmt.Sprintf("%s held lock %d, and its token %d was refused\n%s",
				o, lock, o.token, h.timeline(lock, []int64{o.id}))})
		}
	}
	return found
}

// waits finds stretches in which somebody waited, nobody held the lock, and no
// fault was active.
func (h *history) waits(j judgement, lock int) []violation {
	longest := j.longestWait()
	busy := []span{{j.until, never}}
	for _, f := range h.faults {
		busy = append(busy, span{f.from, f.to + 2*j.lease})
	}
	var waiting []*hold
	for _, o := range h.holds {
		if o.lock != lock {
			continue
		}
		if o.got {
			end := o.over()
			if o.became != freed {
				end += j.lease // for which Redis may keep it
			}
			busy = append(busy, span{o.answered, end})
		}
		if o.waitedUntil()-o.asked > longest {
			waiting = append(waiting, o)
		}
	}
	slices.SortFunc(busy, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var found []violation
	var idle moment // since when
	for _, b := range busy {
		for _, o := range waiting {
			from, to := max(idle, o.asked), min(b.from, o.waitedUntil())
			if to-from > longest {
				found = append(found, violation{unserved, fmt.Sprintf("%s waited for lock %d from %s to %s, while nobody held it and nothing was disturbed",
					o, lock, seconds(from), seconds(to))})
				break
			}
		}
		idle = max(idle, b.to)
	}
	return found
}

// longestWait is how long a lock may stay free while somebody waits: what a hold of
// unknown outcome can block, and some time for a busy machine.
func (j judgement) longestWait() moment { return 2*j.lease + 500*time.Millisecond }

func (o *hold) waitedUntil() moment {
	if o.answered > 0 {
		return o.answered
	}
	return o.by.last
}

// timeline tells what happened to some holds of a lock, and which faults there were
// at the time.
func (h *history) timeline(lock int, of []int64) string {
	type line struct {
		at   moment
		text string
	}
	var lines []line
	var all span
	for i, id := range of {
		o := h.holds[id]
		add := func(at moment, text string, args ...any) {
			if at > 0 {
				lines = append(lines, line{at, fmt.Sprintf("%-10s ", o) + fmt.Sprintf(text, args...)})
			}
		}
		add(o.asked, "asks for lock %d", lock)
		if o.token > 0 {
			add(o.answered, "holds it, token %d", o.token)
		} else {
			add(o.answered, "holds it")
		}
		add(o.read, "reads the counter%s", map[bool]string{true: ", or later writes, and is refused"}[o.turnedAway])
		add(o.wrote, "writes it")
		add(o.lost, "is told that it is lost")
		add(o.unlocking, "unlocks")
		add(o.unlocked, "unlock says: %s", o.became)
		if o.unlocking == 0 {
			add(o.by.last, "is last heard of")
		}
		if begun := h.begun(o, 50*time.Millisecond); i == 0 || begun < all.from {
			all.from = begun
		}
		all.to = max(all.to, o.over())
	}
	for _, f := range h.faults {
		if f.from <= all.to && f.to >= all.from {
			lines = append(lines, line{f.from, fmt.Sprintf("%-10s %s %s, until %s", "fault:", f.kind, f.target, seconds(f.to))})
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(a.at, b.at) })
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "      %s  %s\n", seconds(l.at), l.text)
	}
	return strings.TrimRight(b.String(), "\n")
}

func seconds(m moment) string { return fmt.Sprintf("%8.3f s", m.Seconds()) }
