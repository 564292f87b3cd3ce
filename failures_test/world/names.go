package world

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"lockkata/failures_test/trace"
)

// names gives owners short names in the order in which they appear. A trace shows A1 where the lock
// wrote a random UUID, so the same scenario always prints the same trace.
type names struct {
	lockName string
	labels   map[string]string // random value → label of its newest installation
	first    map[string]string // value → label of its first installation
	scripts  map[string]string // SHA1 → name
	counts   map[string]int    // client → how many labels it has
	keys     map[string]bool   // names of keys that look random
	ids      map[string]string // id in such a name → its number
	// several is set if there are several servers: a call that installs its value on each is one
	// owner.
	several bool
	owners  map[installation]trace.Owner
	last    map[string]trace.Owner // value → its newest owner
}

// installer is a call that puts a value into Redis; call is 0 for the background.
type installer struct {
	client, process string
	call            int
	unlocks         bool // the call is an Unlock
}

// installation identifies a value that a call puts into Redis.
type installation struct {
	value string
	by    installer
}

func newNames(lockName string) *names {
	return &names{
		lockName: lockName,
		labels:   map[string]string{}, first: map[string]string{}, scripts: map[string]string{}, counts: map[string]int{}, keys: map[string]bool{}, ids: map[string]string{},
		owners: map[installation]trace.Owner{}, last: map[string]trace.Owner{},
	}
}

// owner returns the owner of a new installation, or the same owner again for another server, and for a key
// that a failover brings back.
func (n *names) owner(value string, by installer) trace.Owner {
	if last, known := n.last[value]; known && by == (installer{}) {
		return last
	}
	id := installation{value, by}
	if owner, known := n.owners[id]; known && n.several {
		return owner
	}
	n.counts[by.client]++
	label := by.client + strconv.Itoa(n.counts[by.client])
	if n.looksRandom(value) { // a word ("locked", host-7) is shown unchanged
		n.labels[value] = label
	}
	owner := trace.Owner{Label: label, Client: by.client, Process: by.process, Call: by.call, Shares: n.first[value]}
	n.first[value] = cmp.Or(owner.Shares, label)
	n.owners[id], n.last[value] = owner, owner
	return owner
}

// text returns the label of a random value; "A?" if it was never stored in a key of the lock. The names of
// other keys have numbers for their ids, and other values stay as they are.
func (n *names) text(value, client string) string {
	if label, ok := n.labels[value]; ok {
		return label
	}
	if n.keys[value] || n.ids[ID.FindString(value)] != "" {
		return ID.ReplaceAllStringFunc(value, func(id string) string { return cmp.Or(n.ids[id], id) })
	}
	if n.looksRandom(value) {
		return client + "?"
	}
	return value
}

// ID matches an id in a name.
var ID = regexp.MustCompile(`[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|[0-9a-fA-F]{16,}`)

// noteKey notes a key whose name looks random but has parts, as that of another lock may: its words are shown,
// and numbers for its ids.
func (n *names) noteKey(key string) {
	words := ID.ReplaceAllString(key, "")
	if _, isValue := n.labels[key]; isValue || !n.looksRandom(key) || !utf8.ValidString(key) || !parts.MatchString(words) {
		return
	}
	n.keys[key] = true
	for _, id := range ID.FindAllString(key, -1) {
		n.ids[id] = cmp.Or(n.ids[id], strconv.Itoa(len(n.ids)+1))
	}
}

// parts matches a name with a word and a colon.
var parts = regexp.MustCompile(`[a-zA-Z].*:|:.*[a-zA-Z]`)

// command returns a command for people: the name in capitals, scripts by name, and an empty argument in quotes.
func (n *names) command(args []string, client string) []string {
	from, to := keySpan(args)
	if to == 0 { // it has one key, if any
		from, to = 1, max(1, min(2, len(args)))
	}
	for _, key := range args[from:to] {
		n.noteKey(key)
	}
	shown := make([]string, len(args))
	for i, arg := range args {
		shown[i] = cmp.Or(n.text(arg, client), `""`)
	}
	shown[0] = strings.ToUpper(shown[0])
	if len(args) < 2 {
		return shown
	}
	shown[1] = cmp.Or(n.script(shown[0], args), shown[1])
	return shown
}

// script returns the name of the script that a command runs; "" if it runs none.
func (n *names) script(name string, args []string) string {
	if len(args) < 2 {
		return ""
	}
	switch name {
	case "EVALSHA", "EVALSHA_RO":
		return cmp.Or(n.scripts[strings.ToLower(args[1])], shorten(args[1], 8))
	case "EVAL", "EVAL_RO":
		return scriptName(args[1])
	}
	return ""
}

// called matches the commands that a script sends.
var called = regexp.MustCompile(`call\(\s*["'](\w+)["']`)

// comment matches the comment at the start of a script: "-- unlock", or the first words of "--[[ …
// ]]".
var comment = regexp.MustCompile(`^\s*--(?:\[=*\[\s*|[-=* \t]*)(.*)`)

// scriptName returns the first line of a script if it is a comment with words, else the commands
// that the script sends, such as "GET+DEL".
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
	if letters := []rune(s); len(letters) > most {
		return string(letters[:most]) + "…"
	}
	return s
}

// hasOwner reports whether a key's name contains the value of an owner.
func (n *names) hasOwner(key string) bool {
	for value := range n.labels {
		if strings.Contains(key, value) {
			return true
		}
	}
	return false
}

// looksRandom reports whether a value is random, rather than a word or number that a person chose:
// at least 12 letters and digits mixed, 16 letters in both cases, 17 digits (a time in
// microseconds has 16), or bytes that are no text.
func (n *names) looksRandom(value string) bool {
	if !utf8.ValidString(value) {
		return true
	}
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
