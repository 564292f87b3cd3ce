package interview

import (
	"context"
	"strconv"
	"strings"
	"time"

	"lockkata/internal/i18n"
)

var (
	graded       = i18n.New("{theme} · {rank} · {level}")
	answerAloud  = i18n.New("Answer aloud, or type it. Press Enter when you have finished.")
	noAnswer     = i18n.New("{typed} is not an answer. Say it aloud and press Enter, or type it. q ends the interview.")
	tookLong     = i18n.New("That took about {time}. An interviewer wants the first answer in 30 seconds.")
	partHeading  = i18n.New("**{part}:**")
	keyMenu      = i18n.New("d drawing · p in depth · f follow-ups · r run the proof · q end the interview")
	howWasIt     = i18n.New("How was it? y knew it · h half · n no")
	unknownKey   = i18n.New("Unknown key {typed}. Press one of {keys}.")
	inOwnShell   = i18n.New("Run this in a shell of your own, at the root of the repository: {command}")
	endsWithCode = i18n.New("{command} ends with status {status}.")
)

// asked is a question that was asked, with its answer and mark.
type asked struct {
	Question
	typed string // the answer; "" if it was said aloud
	mark  string // y, h, n; "" if the candidate has not marked it
}

// The keys that mark a question. d, p, f and r show more of it.
const (
	keySaid = "y"
	keyHalf = "h"
	keyNot  = "n"
)

// question asks a question, shows its answers, and lets the candidate mark the own answer.
// It returns false to end the interview.
func (s *Session) question(ctx context.Context, q Question) bool {
	s.round(graded.Args("theme", q.Theme, "rank", rankNames[q.Rank], "level", levelNames[q.Level]))
	this := &asked{Question: q}
	s.questions = append(s.questions, this)
	s.prose("\n**" + q.Title + "**")
	s.sayApart(answerAloud)
	asked := s.Now()
	var ok bool
	if this.typed, ok = s.answer(ctx); !ok {
		return false
	}
	if took := s.Now().Sub(asked); took >= time.Minute {
		s.sayApart(tookLong, "time", minutesOf(took))
	}
	s.part(q, Spoken)
	s.part(q, Proof)
	for {
		s.sayApart(keyMenu)
		s.say(howWasIt)
		key, ok := s.read(ctx)
		if !ok {
			return false
		}
		switch key = strings.ToLower(key); key {
		case "d":
			s.part(q, Drawing)
		case "p":
			s.part(q, Depth)
		case "f":
			s.part(q, FollowUps)
		case "r":
			if q.Command == "" { // the document explains it
				s.part(q, Proof)
			} else {
				s.prove(q.Command)
			}
		case keySaid, keyHalf, keyNot:
			this.mark = key
			return true
		case "": // Enter alone repeats the prompt
		default:
			s.say(unknownKey, "typed", strconv.Quote(key), "keys", "d, p, f, r, q, y, h, n")
		}
	}
}

// answer reads the answer to a question. A single letter is a key that was pressed too early; the
// candidate can still answer.
func (s *Session) answer(ctx context.Context) (string, bool) {
	for {
		line, ok := s.read(ctx)
		switch {
		case !ok:
			return "", false
		case len(line) != 1:
			return line, true
		}
		s.say(noAnswer, "typed", strconv.Quote(line))
	}
}

// part prints a part of a question's entry under its name.
func (s *Session) part(q Question, p Part) {
	s.prose("\n" + partHeading.Localize(s.Language, "part", partNames[p]) + "\n" + q.Parts[p])
}

// prove runs a command, if it is one of this program.
func (s *Session) prove(command string) {
	args, keys, ok := inProcess(command)
	if !ok {
		s.say(inOwnShell, "command", "`"+command+"`")
		return
	}
	s.print("\n")
	if status := s.InProcess(args, keys, s.Out); status != 0 {
		s.say(endsWithCode, "command", "`"+command+"`", "status", status)
	}
}
