package interview

import (
	"fmt"
	"strings"

	"lockkata/failures_test/schedule"
	"lockkata/failures_test/world"
	"lockkata/internal/stages"
)

// Language is a language in which the interview is held: where its document is, how
// the parts begin there, and the words of the screens.
type Language struct {
	Name     string // as --language takes it
	Document string // in docs
	Labels   [parts]string
	words    words
}

// Languages are all languages; the first is the default.
var Languages = []*Language{english, chinese}

// FindLanguage finds a language by its name.
func FindLanguage(name string) (*Language, error) {
	var names []string
	for _, l := range Languages {
		if l.Name == name {
			return l, nil
		}
		names = append(names, l.Name)
	}
	return nil, fmt.Errorf("there is no language %q: there are %s", name, strings.Join(names, ", "))
}

// words are the words of the screens. Those with a verb are formats.
type words struct {
	Welcome    string // minutes, questions, themes
	HowItGoes  []string
	Round      string // number, theme, minutes left
	Minute     [2]string
	Questions  [2]string
	Themes     [2]string
	Prediction string
	Answer     string // how to answer a question
	TookLong   string // minutes
	In30       string
	Proof      string
	Keys       string
	FollowUps  string
	Depth      string
	Drawing    string
	Picture    string // alternative text, command
	NoKey      string // what was typed, the keys
	Number     string // what was typed, the highest
	Shell      string // command
	Failed     string // command, exit status

	Stage  string         // number, title
	Titles map[int]string // stage → what is new in it; where there is none, what it says of itself
	Next   string
	Steps  map[world.Action]string // of {client}, {command}, {time}
	Write  string                  // the same for an Execute at the ledger
	Asks   map[Kind]string         // of {client}, {call}, {rule}
	Choose string
	Means  map[string]string // the choices
	Holds  string            // client, label: a choice
	Stays  string            // the same without a lease
	And    string
	Rules  map[string]string // property → what it says; where there is none, what it says of itself
	Right  string            // what is so
	Wrong  string

	Summary    string
	Took       string // rounds, minutes
	Rounds     [2]string
	Instant    string // instead of Took's minutes: less than one
	Nothing    string
	Columns    [4]string // theme, said, half, not
	Predicted  string    // right, of
	ReadAgain  string
	Foretold   string // stage, question
	Unmarked   string // title
	AllSaid    string
	TimeIsOver string
	AllAsked   string
	Repeat     string
}

// plural is the form that goes with a number.
func plural(n int, forms [2]string) string {
	if n == 1 {
		return fmt.Sprintf(forms[0], n)
	}
	return fmt.Sprintf(forms[1], n)
}

// title is what is new in a stage.
func (w *words) title(s stages.Stage) string {
	if text, ok := w.Titles[s.Number]; ok {
		return text
	}
	return s.Title
}

// rule is what a property says.
func (w *words) rule(p schedule.Property) string {
	if text, ok := w.Rules[p.Name]; ok {
		return text
	}
	return p.About
}

var english = &Language{
	Name: "en", Document: "interview.md",
	Labels: [parts]string{"**In 30 seconds.**", "**Drawing.**", "**In depth.**", "**Follow-ups.**", "**Proof.**"},
	words: words{
		Welcome: "A mock interview: %s, %s in %s",
		HowItGoes: []string{
			"You get a question. Say the answer aloud, as you would in the room, or type it; Enter when you have finished. Then compare: the answer of 30 seconds is shown, and there is more behind keys. Mark yourself honestly.",
			"About every third round is a prediction: a real lock under a schedule that no document shows, drawn up to a point. You say what happens next. The lock is run on, and that decides.",
			"Every answer is one line: type it, then Enter. No round begins when the time is over. Ctrl-C or the end of the input goes to the summary: what to read again, with the commands that prove it.",
		},
		Round:      "Round %d: %s (%s left)",
		Minute:     [2]string{"%d minute", "%d minutes"},
		Questions:  [2]string{"%d question", "%d questions"},
		Themes:     [2]string{"%d theme", "%d themes"},
		Prediction: "prediction",
		Answer:     "Answer aloud, or type it. Enter when you have finished.",
		TookLong:   "That took about %s. An interviewer wants the first answer in 30 seconds.",
		In30:       "In 30 seconds:",
		Proof:      "Proof:",
		Keys:       "d drawing · p in depth · f follow-ups · r run the proof · how was it? y said it · h half · n not",
		FollowUps:  "Follow-ups:",
		Depth:      "In depth:",
		Drawing:    "Drawing:",
		Picture:    "%s: %s draws it",
		NoKey:      "%q is no key here. There are %s.",
		Number:     "%q is no answer here. Type a number from 1 to %d.",
		Shell:      "That needs a shell of its own, at the root of the repository: %s",
		Failed:     "%s ends with status %d.",
		Stage:      "Stage %d, %s. Two clients want the lock:",
		Next:       "Then, in this order:",
		Steps: map[world.Action]string{
			world.Execute: "Redis runs {client}'s {command}",
			world.Deliver: "{client} reads the reply",
			world.Tick:    "time passes, to {time}",
			world.Crash:   "{client} dies",
			world.Freeze:  "{client} stands still",
			world.Thaw:    "{client} goes on",
			world.Lose:    "the reply to {client} is lost: its connection breaks",
			world.Leave:   "the caller of {client} gives up",
			world.Refuse:  "Redis is full, and refuses {client}'s command",
		},
		Write: "the ledger answers {client}'s {command}",
		Asks: map[Kind]string{
			AskCall:   "What does {client}'s {call} return?",
			AskKey:    "What does Redis hold then under the lock's key?",
			AskInside: "Who believes then to hold the lock?",
			AskBroken: "Is this rule broken then: {rule}?",
		},
		Choose: "Type the number of your answer.",
		Means: map[string]string{
			"held": "it has the lock", "refused": "no: somebody else has the lock", "error": "an error",
			"done": "that it has unlocked", "refused with an error": "an error: the lock is not, or no longer, its own",
			"no key": "nothing: there is no key", "nobody": "nobody", "yes": "yes, it is broken", "no": "no, it is not broken",
		},
		Holds: "the key of %s, with a lease (%s)",
		Stays: "the key of %s, without a lease (%s)",
		And:   "%s and %s",
		Right: "Right. The lock was run on: %s.",
		Wrong: "No. The lock was run on: %s.",

		Summary:    "Summary",
		Took:       "%s, in about %s.",
		Rounds:     [2]string{"%d round", "%d rounds"},
		Instant:    "%s, in less than a minute.",
		Nothing:    "Nothing was marked.",
		Columns:    [4]string{"theme", "said", "half", "not"},
		Predicted:  "Predictions: %d of %d right",
		ReadAgain:  "Read again:",
		Foretold:   "Prediction on stage %d: %s",
		Unmarked:   "%s (not marked)",
		AllSaid:    "Nothing to read again: you said it all.",
		TimeIsOver: "The time is over.",
		AllAsked:   "All questions were asked.",
		Repeat:     "The same interview again:",
	},
}
