package locktest

import (
	"slices"
	"strconv"
	"strings"

	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
)

// Explanations of the mistakes that break a promise most often.
var (
	unknownScript = i18n.New("Redis does not know the script: it answers EVALSHA with NOSCRIPT.")
	runScript     = i18n.New("Use redis.NewScript and its Run, which sends the script itself where Redis does not know it.")
	badScript     = i18n.New("Redis cannot run the script: {error}")
	fixScript     = i18n.New("Fix the Lua script. The error has the line in the script.")
	unknown       = i18n.New("Redis does not know the command {command}, which {client} sends: {error}")
	spellIt       = i18n.New("Check how it is spelled. If it is right, the embedded Redis of this program lacks it, and nothing is said about the lock.")
	noValue       = i18n.New("The script of {client}'s {call} returns no value, and go-redis makes an error of that: redis.Nil.")
	returnOneOrNo = i18n.New("End the script with return 1, or with return 0.")
	swapped       = i18n.New("The script gets {key} where it expects the lock's name, and {name} where it expects the value.")
	orderThem     = i18n.New("Pass the name of the lock's key in the slice, which is KEYS, and the value after it: that is ARGV.")
)

// explain replaces text and advice by the cause, if the trace shows one.
func (b *Broken) explain(tr *trace.Trace) {
	last := map[int]trace.Event{} // call → its last command
	for _, e := range tr.Events {
		text, advice := i18n.Message{}, i18n.Text("")
		said, isError := strings.CutPrefix(e.Reply, "(error) ")
		sent := e
		switch {
		case e.Kind == trace.Executed && isError && strings.HasPrefix(said, "ERR unknown command"):
			text, advice = unknown.Args("command", e.Command[0], "client", e.Client, "error", said), spellIt
		case e.Kind == trace.Executed && isError && strings.HasPrefix(said, "ERR Error compiling script"):
			text, advice = badScript.Args("error", said), fixScript
		case e.Kind == trace.Executed && takesValueForKey(e, tr.LockKey()):
			text, advice = swapped.Args("key", e.Command[3], "name", tr.LockKey()), orderThem
		case e.Kind == trace.Executed && e.Call != 0:
			last[e.Call] = e
		case e.Kind == trace.Returned && e.Result.Error != "":
			sent = last[e.Call]
			switch isScript := len(sent.Command) > 0 && strings.HasPrefix(sent.Command[0], "EVAL"); {
			case isScript && strings.HasPrefix(sent.Reply, "(error) NOSCRIPT"):
				text, advice = unknownScript.Args(), runScript
			case isScript && sent.Reply == "(nil)" && (e.Op == trace.OpUnlock || len(sent.Effects) > 0):
				text, advice = noValue.Args("call", e.Op, "client", e.Client), returnOneOrNo
			}
		}
		if advice != "" {
			b.Text, b.Advice = text, advice.Args()
			if sent.Source != nil {
				b.Source = *sent.Source
			}
			return
		}
	}
}

// takesValueForKey reports whether a script gets the name of the lock's key among its arguments, and
// something else as its key.
func takesValueForKey(e trace.Event, key string) bool {
	if len(e.Command) < 5 || !strings.HasPrefix(e.Command[0], "EVAL") {
		return false
	}
	n, _ := strconv.Atoi(e.Command[2])
	keys := e.Command[3:min(3+n, len(e.Command))]
	return n > 0 && !slices.Contains(keys, key) && slices.Contains(e.Command[3+len(keys):], key)
}
