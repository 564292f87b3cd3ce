package interview

import (
	"context"
	"fmt"
	"regexp"
	"slices"
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
	whichPoints  = i18n.New("Which of these did you say? Type their numbers, such as 1 3, a for all, 0 for none.")
	pointsSaid   = i18n.New("{n} of {all} key points: {mark}.")
	whatNext     = i18n.New("Enter next round · f follow-ups, one by one · q end the interview")
	whatElse     = i18n.New("More: {keys}")
	unknownKey   = i18n.New("{typed} means nothing here.")
	inOwnShell   = i18n.New("Run this in a shell of your own, at the root of the repository: {command}")
	nextFollowUp = i18n.New("**Follow-up {n} of {all}:** {question}")
	answerOrSkip = i18n.New("Answer aloud, or type it, and press Enter. s ends the follow-ups.")
	didYouHaveIt = i18n.New("Did you have it? y yes · n no · Enter or s ends the follow-ups")
	endsWithCode = i18n.New("{command} ends with status {status}.")
)

// The marks: all key points were said, some were, none was.
var (
	known  = i18n.New("known")
	half   = i18n.New("half")
	missed = i18n.New("missed")
	marks  = []i18n.Text{known, half, missed}
)

// asked is a question that was asked, with its answer and mark.
type asked struct {
	Question
	typed         string    // the answer; "" if it was said aloud
	mark          i18n.Text // of marks; "" if the candidate has not ticked
	notSaid       []string  // the key points that are missing in the answer
	followed, had int       // the follow-ups that were asked and marked, and those that were answered
}

// partKeys are the keys that show a part.
var partKeys = [parts]string{TwoMinutes: "t", Drawing: "d", Depth: "p", Proof: "r"}

// question asks a question, shows its answer, lets the candidate tick the key points, and then
// shows what the candidate wants to see. It returns false to end the interview.
func (s *Session) question(ctx context.Context, q Question) bool {
	s.round(graded.Args("theme", q.Theme, "rank", rankNames[q.Rank], "level", levelNames[q.Level]))
	this := &asked{Question: q}
	s.questions = append(s.questions, this)
	s.prose("\n**" + q.Title + "**")
	s.sayApart(answerAloud)
	asked := s.Now()
	var ok bool
	if this.typed, ok = s.answer(ctx, ""); !ok {
		return false
	}
	if took := s.Now().Sub(asked); took >= time.Minute {
		s.sayApart(tookLong, "time", minutesOf(took))
	}
	s.part(q, Spoken)
	s.prose("\n" + partHeading.Localize(s.Language, "part", partNames[Points]))
	for i, point := range q.Points {
		s.prose(fmt.Sprintf("%d. %s", i+1, point))
	}
	var more []string
	for p, key := range partKeys {
		if key != "" && q.Parts[p] != "" {
			more = append(more, key+" "+strings.ToLower(partNames[p].Localize(s.Language)))
		}
	}
	for {
		if this.mark == "" {
			s.sayApart(whichPoints)
		} else {
			s.sayApart(whatNext)
			s.say(whatElse, "keys", strings.Join(more, " · "))
		}
		key, ok := s.Lines.Next(ctx)
		p := Part(slices.Index(partKeys[:], strings.ToLower(key)))
		switch {
		case !ok:
			return false
		case this.mark == "" && this.tick(key):
			s.say(pointsSaid, "n", len(q.Points)-len(this.notSaid), "all", len(q.Points), "mark", this.mark)
		case key == "":
			if this.mark != "" {
				return true
			}
		case strings.EqualFold(key, "f"):
			if !s.followUps(ctx, this) {
				return false
			}
		case p >= 0 && q.Parts[p] != "":
			s.part(q, p)
			if p == Proof && q.Command != "" {
				s.prove(q.Command)
			}
		default:
			s.say(unknownKey, "typed", strconv.Quote(key))
		}
	}
}

// tick marks a question by the numbers of the key points that were said. It returns false if the
// line is something else.
func (q *asked) tick(line string) bool {
	digits := "012345"[:len(q.Points)+1]
	said := strings.NewReplacer(" ", "", ",", "", "，", "", "、", "", "a", digits, "A", digits).Replace(line)
	if said == "" || strings.Trim(said, digits) != "" {
		return false
	}
	q.mark = known
	for i, point := range q.Points {
		if !strings.Contains(said, strconv.Itoa(i+1)) {
			q.notSaid = append(q.notSaid, point)
			q.mark = half
		}
	}
	if len(q.notSaid) == len(q.Points) {
		q.mark = missed
	}
	return true
}

// keySkip ends the follow-ups.
const keySkip = "s"

// followUps asks a question's follow-ups one by one. It returns false to end the interview.
func (s *Session) followUps(ctx context.Context, this *asked) bool {
	this.followed, this.had = 0, 0
	for i, f := range this.FollowUps {
		s.sayApart(nextFollowUp, "n", i+1, "all", len(this.FollowUps), "question", f.Question)
		s.say(answerOrSkip)
		line, ok := s.answer(ctx, keySkip)
		if !ok || strings.EqualFold(line, keySkip) {
			return ok
		}
		s.prose("\n" + f.Answer + "\n")
		for line = ""; line != "y" && line != "n"; line = strings.ToLower(line) {
			s.say(didYouHaveIt)
			if line, ok = s.Lines.Next(ctx); !ok || line == "" || strings.EqualFold(line, keySkip) {
				return ok
			}
		}
		this.followed++
		if line == "y" {
			this.had++
		}
	}
	return true
}

// answer reads the answer to a question, or the key that skips it. Another single letter is a key
// that was pressed too early; the candidate can still answer.
func (s *Session) answer(ctx context.Context, skip string) (string, bool) {
	for {
		line, ok := s.Lines.NextText(ctx)
		switch {
		case !ok:
			return "", false
		case len(line) != 1 || strings.EqualFold(line, skip):
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

// ours is a command of this repository, perhaps with keys for its input.
var ours = regexp.MustCompile(`^(?:printf '([^'\\]*)' \| )?go run \.((?: (?:'[^']*'|[^\s'"|&;<>$]+))*)$`)

// here are the commands that end by themselves and need only this program.
var here = []string{"show", "list", "diff", "replay", "explore", "play"}

// inProcess splits a command into arguments and input for this program. Other commands, such as
// go test, return false and need a shell.
func inProcess(command string) (args []string, keys string, ok bool) {
	m := ours.FindStringSubmatch(command)
	if m == nil {
		return nil, "", false
	}
	for _, word := range strings.Fields(m[2]) {
		args = append(args, strings.Trim(word, "'"))
	}
	return args, m[1], len(args) == 0 || slices.Contains(here, args[0])
}
