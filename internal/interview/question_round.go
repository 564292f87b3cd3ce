package interview

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// asked is a question that was asked, and how the candidate marks his answer.
type asked struct {
	Question
	mark string // y, h, n; "" as long as he has not
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

var allKeys = []string{keyDrawing, keyDepth, keyFollowUps, keyRun, keySaid, keyHalf, keyNot}

// question asks a question, shows its answers, and lets the candidate mark himself.
// It returns false when the interview is to end.
func (s *Session) question(ctx context.Context, q Question) bool {
	s.round(q.Theme)
	this := &asked{Question: q}
	s.questions = append(s.questions, this)
	s.prose("\n**" + q.Title + "**\n\n" + s.words.Answer)
	asked := s.Now()
	if _, ok := s.read(ctx); !ok {
		return false
	}
	if took := s.Now().Sub(asked); took >= time.Minute {
		s.prose("\n" + fmt.Sprintf(s.words.TookLong, s.minutes(took)))
	}
	s.part(s.words.In30, q.Parts[Spoken])
	s.part(s.words.Proof, q.Parts[Proof])
	for {
		s.prose("\n" + s.words.Keys)
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
			s.prove(q.Command)
		case keySaid, keyHalf, keyNot:
			this.mark = key
			return true
		default:
			s.prose(fmt.Sprintf(s.words.NoKey, key, strings.Join(allKeys, ", ")))
		}
	}
}

// part prints a part of the document under its label.
func (s *Session) part(label, text string) { s.prose("\n**" + label + "**\n" + text) }

// prove runs a proof, if this program can.
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
