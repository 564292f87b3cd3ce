package interview

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// asked is a question that was asked, and what became of it.
type asked struct {
	Question
	typed string // the answer; "" if it was said aloud
	mark  string // y, h, n; "" as long as the candidate has not marked it
}

// The keys of a question, beside those that mark it.
const (
	keyDrawing   = "d"
	keyDepth     = "p"
	keyFollowUps = "f"
	keyRun       = "r"
	keySaid      = "y"
	keyHalf      = "h"
	keyNot       = "n"
)

var allKeys = []string{keyDrawing, keyDepth, keyFollowUps, keyRun, keyEnd, keySaid, keyHalf, keyNot}

// question asks a question, shows its answers, and lets the candidate mark himself.
// It returns false when the interview is to end.
func (s *Session) question(ctx context.Context, q Question) bool {
	l := s.Language
	s.round(fmt.Sprintf(s.words.Graded, q.Theme, l.Ranks[q.Rank], l.Levels[q.Level]))
	this := &asked{Question: q}
	s.questions = append(s.questions, this)
	s.prose("\n**" + q.Title + "**\n\n" + s.words.Answer)
	asked := s.Now()
	var ok bool
	if this.typed, ok = s.answer(ctx); !ok {
		return false
	}
	if took := s.Now().Sub(asked); took >= time.Minute {
		s.prose("\n" + fmt.Sprintf(s.words.TookLong, s.minutes(took)))
	}
	s.part(s.words.In30, q.Parts[Spoken])
	s.part(s.words.Proof, q.Parts[Proof])
	for {
		s.prose("\n" + s.words.Keys)
		s.prose(s.words.Mark)
		key, ok := s.read(ctx)
		if !ok {
			return false
		}
		switch key = strings.ToLower(key); key {
		case keyDrawing:
			s.part(s.words.Drawing, q.Parts[Drawing])
		case keyDepth:
			s.part(s.words.Depth, q.Parts[Depth])
		case keyFollowUps:
			s.part(s.words.FollowUps, q.Parts[FollowUps])
		case keyRun:
			s.proveAnswer(q)
		case keySaid, keyHalf, keyNot:
			this.mark = key
			return true
		default:
			s.prose(fmt.Sprintf(s.words.NoKey, key, strings.Join(allKeys, ", ")))
		}
	}
}

// answer reads the answer to a question. A single letter is a key that was pressed too
// early: it doesn't cost the answer.
func (s *Session) answer(ctx context.Context) (string, bool) {
	for {
		line, ok := s.read(ctx)
		switch {
		case !ok:
			return "", false
		case len(line) != 1:
			return line, true
		}
		s.prose(fmt.Sprintf(s.words.NotYet, line))
	}
}

// part prints a part of the document under its label.
func (s *Session) part(label, text string) { s.prose("\n**" + label + "**\n" + text) }

// proveAnswer runs a question's proof, or says once more why there is none.
func (s *Session) proveAnswer(q Question) {
	if q.Command == "" {
		s.part(s.words.Proof, q.Parts[Proof])
		return
	}
	s.prove(q.Command)
}

// prove runs a command, if this program can.
func (s *Session) prove(command string) {
	args, keys, ok := inProcess(command)
	if !ok {
		s.prose(fmt.Sprintf(s.words.Shell, "`"+command+"`"))
		return
	}
	s.print("\n")
	if status := s.InProcess(args, keys, s.Out); status != 0 {
		s.prose(fmt.Sprintf(s.words.Failed, "`"+command+"`", status))
	}
}
