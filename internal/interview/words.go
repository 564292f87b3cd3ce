package interview

import (
	"fmt"
	"slices"

	"lockkata/failures_test/schedule"
	"lockkata/failures_test/world"
	"lockkata/internal/columns"
)

// Language is a language in which the interview is held: where its document is, the
// words that have a meaning there, and those of the screens.
type Language struct {
	Name     string // as --lang takes it
	Document string // in docs
	Labels   [parts]string
	Ranks    [ranks]string
	Levels   [levels]string
	NoRun    string // begins a proof that no command gives
	words    words
}

// Languages are all languages; the first is the default.
var Languages = []*Language{english, chinese}

// FindLanguage finds a language by its name; nil if there is none.
func FindLanguage(name string) *Language {
	i := slices.IndexFunc(Languages, func(l *Language) bool { return l.Name == name })
	if i < 0 {
		return nil
	}
	return Languages[i]
}

// words are the words of the screens. Those with a verb are formats.
type words struct {
	Welcome    string // minutes, questions, themes
	Switch     string // how to get the other language
	HowItGoes  []string
	Predicting string // the same, of predictions
	Round      string // number, theme, minutes left
	Graded     string // theme, rank, level
	Minute     [2]string
	Questions  [2]string
	Themes     [2]string
	Prediction string
	Answer     string // how to answer a question
	NotYet     string // what was typed: one character
	TookLong   string // minutes
	In30       string
	Proof      string
	Keys       string
	Mark       string
	FollowUps  string
	Depth      string
	Drawing    string
	Picture    string // alternative text, command
	NoKey      string // what was typed, the keys
	Number     string // what was typed, the highest
	Shell      string // command
	Failed     string // command, exit status

	Stage  string            // number, title
	Titles map[string]string // stage → what is new in it; where there is none, what it says of itself
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
	Compare    string
	You, Model string
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
func (w *words) title(s columns.Column) string {
	if text, ok := w.Titles[s.ID]; ok {
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
	Ranks:  [ranks]string{"must know", "often", "deep"},
	Levels: [levels]string{"junior", "senior", "staff"},
	NoRun:  "No run here:",
	words: words{
		Welcome: "A mock interview: %s, %s in %s",
		Switch:  "中文：go run . interview --lang zh",
		HowItGoes: []string{
			"You get a question. Say your answer aloud, as you would in the room, or type it. Press Enter when you have finished. Then compare it with the model answer, which takes 30 seconds to say, and mark yourself honestly.",
			"The must-knows come first, and the easiest of them before the others.",
			"An answer is one line: type it, then press Enter. When the time is over, no new round begins. q ends the interview at once, and so does Ctrl-C. In the end you see what to read again, and your typed answers beside the model answers.",
		},
		Predicting: "Every third round is a prediction. You see a real lock under a schedule that no document shows, drawn up to some point, and say what happens next. Then the lock runs on, and its run decides.",
		Round:      "Round %d: %s (%s left)",
		Graded:     "%s · %s · %s",
		Minute:     [2]string{"%d minute", "%d minutes"},
		Questions:  [2]string{"%d question", "%d questions"},
		Themes:     [2]string{"%d theme", "%d themes"},
		Prediction: "prediction",
		Answer:     "Answer aloud, or type it. Press Enter when you have finished.",
		NotYet:     "%q is no answer. Say it aloud and press Enter, or type it. q ends the interview.",
		TookLong:   "That took about %s. An interviewer wants the first answer in 30 seconds.",
		In30:       "In 30 seconds:",
		Proof:      "Proof:",
		Keys:       "d drawing · p in depth · f follow-ups · r run the proof · q end the interview",
		Mark:       "How was it? y said it · h half · n not",
		FollowUps:  "Follow-ups:",
		Depth:      "In depth:",
		Drawing:    "Drawing:",
		Picture:    "%s: %s draws it",
		NoKey:      "Unknown key %q. Press one of %s.",
		Number:     "%q is not one of the answers. Type a number from 1 to %d, or q to end.",
		Shell:      "Run this in a shell of your own, at the root of the repository: %s",
		Failed:     "%s ends with status %d.",
		Stage:      "Stage %s, %s. Two clients want the lock:",
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
			"held": "it has the lock", "refused": "no: another client has the lock", "error": "an error",
			"done": "that it has unlocked", "refused with an error": "an error: the lock is not, or no longer, its own",
			"no key": "nothing: there is no key", "nobody": "nobody", "yes": "yes, it is broken", "no": "no, it is not broken",
		},
		Holds: "the key of %s, with a lease (%s)",
		Stays: "the key of %s, without a lease (%s)",
		And:   "%s and %s",
		Right: "Right. The lock ran on, and the answer is: %s.",
		Wrong: "No. The lock ran on, and the answer is: %s.",

		Summary:    "Summary",
		Took:       "%s, in about %s.",
		Rounds:     [2]string{"%d round", "%d rounds"},
		Instant:    "%s, in less than a minute.",
		Nothing:    "Nothing was marked.",
		Columns:    [4]string{"theme", "said", "half", "not"},
		Predicted:  "Predictions: %d of %d right",
		ReadAgain:  "Read again:",
		Foretold:   "Prediction on stage %s: %s",
		Unmarked:   "%s (not marked)",
		Compare:    "What you typed, and the model answer:",
		You:        "You:",
		Model:      "Model:",
		AllSaid:    "Nothing to read again: you said it all.",
		TimeIsOver: "The time is over.",
		AllAsked:   "All questions were asked.",
		Repeat:     "The same interview again:",
	},
}
