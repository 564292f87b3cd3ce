package world

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// names gives owners short names in the order in which they appear, so that a
// trace says A1 where the lock wrote a random UUID, and the same scenario always
// prints the same trace.
type names struct {
	lockName string
	labels   map[string]string // random value → the label of its newest installation
	first    map[string]string // value → the label of its first installation
	scripts  map[string]string // SHA1 → name
	counts   map[string]int    // lane → how many labels it has
	// several says that a call may install its value on several servers: there it is one owner.
	several bool
	owners  map[installation]Owner
}

// installation is what a call of a lane puts into Redis.
type installation struct {
	value, lane string
	call        int
}

func newNames(lockName string) *names {
	return &names{
		lockName: lockName,
		labels:   map[string]string{}, first: map[string]string{}, scripts: map[string]string{}, counts: map[string]int{},
		owners: map[installation]Owner{},
	}
}

// owner returns who installs a value: a new owner, or the one that has put it on another server.
func (n *names) owner(value string, lane *Client, call int) Owner {
	id := installation{value, lane.Name, call}
	owner, known := n.owners[id]
	if !known || !n.several {
		owner = Owner{Label: n.next(lane.Name), Client: lane.Name, Process: lane.process.name, Call: call}
		owner.Shares = n.learn(value, owner.Label)
		n.owners[id] = owner
	}
	return owner
}

// next names a new installation: A1, then A2.
func (n *names) next(lane string) string {
	n.counts[lane]++
	return lane + strconv.Itoa(n.counts[lane])
}

// learn remembers that a value belongs to the installation label, and returns the label of the
// first installation of that value, if that was another one. A value that looks like a word
// ("locked", host-7) is shown unchanged, any other by its label.
func (n *names) learn(value, label string) (first string) {
	if n.looksRandom(value) {
		n.labels[value] = label
	}
	if first, known := n.first[value]; known {
		return first
	}
	n.first[value] = label
	return ""
}

// text replaces a random value by its label; one that never was stored in Redis
// is "A?".
func (n *names) text(value, lane string) string {
	if label, ok := n.labels[value]; ok {
		return label
	}
	if n.looksRandom(value) {
		return lane + "?"
	}
	return value
}

// command renders a command for people: the name in capitals, scripts by name.
func (n *names) command(args []string, lane string) []string {
	shown := make([]string, len(args))
	for i, arg := range args {
		shown[i] = n.text(arg, lane)
	}
	shown[0] = strings.ToUpper(shown[0])
	if len(args) < 2 {
		return shown
	}
	switch shown[0] {
	case "EVALSHA", "EVALSHA_RO":
		shown[1] = n.script(args[1])
	case "EVAL", "EVAL_RO":
		shown[1] = scriptName(args[1])
	}
	return shown
}

func (n *names) script(sha string) string {
	if name, ok := n.scripts[strings.ToLower(sha)]; ok {
		return name
	}
	return shorten(sha, 8)
}

// called finds the commands that a script sends.
var called = regexp.MustCompile(`call\(\s*["'](\w+)["']`)

// comment is what a script begins with: "-- unlock", or the first words of "--[[ … ]]".
var comment = regexp.MustCompile(`^\s*--(?:\[=*\[\s*|[-=* \t]*)(.*)`)

// scriptName is the first line of a script if it is a comment with words, else the commands
// that the script sends, "GET+DEL". So two scripts of a lock have two names.
func scriptName(source string) string {
	if first := comment.FindStringSubmatch(source); first != nil {
		name, _, _ := strings.Cut(first[1], "]]")
		if name = strings.TrimSpace(name); name != "" && !strings.HasPrefix(name, "KEYS") {
			return shorten(name, 40)
		}
	}
	var sends []string
	for _, call := range called.FindAllStringSubmatch(source, -1) {
		if name := strings.ToUpper(call[1]); !slices.Contains(sends, name) {
			sends = append(sends, name)
		}
	}
	return cmp.Or(strings.Join(sends, "+"), "script")
}

func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}

// hasOwner reports whether a key is named after an owner.
func (n *names) hasOwner(key string) bool {
	for value := range n.labels {
		if strings.Contains(key, value) {
			return true
		}
	}
	return false
}

// looksRandom tells an owner's random value from a word or a number that a
// person chose: twelve letters or digits and more, with digits among them, or
// sixteen letters and more, large and small ones. Times in microseconds have 16
// digits, so digits alone need to be more.
func (n *names) looksRandom(value string) bool {
	if len(value) < 12 || strings.Contains(value, n.lockName) || strings.ContainsAny(value, " \n") {
		return false
	}
	digits, large, small := 0, 0, 0
	for _, r := range value {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsUpper(r):
			large++
		case unicode.IsLetter(r):
			small++
		}
	}
	letters := large + small
	return digits >= 17 || digits > 0 && letters > 0 && digits+letters >= 12 || large > 0 && small > 0 && letters >= 16
}
