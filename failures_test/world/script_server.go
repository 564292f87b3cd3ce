package world

import (
	"bytes"
	"strconv"
	"strings"
)

// scripts answers EVAL and EVALSHA in place of miniredis, which makes a new Lua
// state for each and takes a tenth of a millisecond. Its answers are the same,
// byte for byte. What it is not sure of it leaves to miniredis: a script that is
// not tame, arguments that make no sense, a connection with a transaction. Which
// scripts the server knows is miniredis's own affair too: only those are run here
// that it has certainly stored and not forgotten.
type scripts struct {
	redis *embedded
	known map[string]*script // by SHA1
}

// answer runs the script that the command names and writes the reply, or returns
// false: then nothing has happened.
func (s *scripts) answer(l *embeddedLink, name string, args []string) bool {
	if len(args) < 3 || l.special {
		return false
	}
	var known *script
	switch name {
	case "EVALSHA":
		known = s.known[args[1]]
	case "EVAL":
		known = s.known[compile(args[1]).sha]
	}
	if known == nil {
		return false
	}
	count, err := strconv.Atoi(args[2])
	if err != nil || count < 0 || count > len(args)-3 {
		return false
	}
	keys, argv := args[3:3+count], args[3+count:]
	state := takeState()
	if state.run(s.redis.mini, l.peer, known, keys, argv) {
		state.giveBack()
	}
	return true
}

// learn notes what a command that miniredis answered did to the scripts it knows.
// A script that is unknown here costs time, one that is known here and not there
// would be a wrong answer.
func (s *scripts) learn(l *embeddedLink, name string, args []string, raw []byte) {
	switch name {
	case "MULTI", "SELECT", "SUBSCRIBE", "UNSUBSCRIBE", "PSUBSCRIBE", "PUNSUBSCRIBE":
		l.special = true
	case "EVAL":
		s.redis.strange = true
		if !l.special && len(raw) > 0 && raw[0] != '-' {
			s.remember(args[1])
		}
	case "SCRIPT":
		s.redis.strange = true
		if !l.special && len(args) == 3 && strings.EqualFold(args[1], "load") && bytes.HasPrefix(raw, []byte("$")) {
			s.remember(args[2])
			return
		}
		if len(args) > 1 && !strings.EqualFold(args[1], "exists") {
			clear(s.known)
		}
	case "EXEC":
		s.redis.strange = true
		clear(s.known)
	}
}

func (s *scripts) remember(source string) {
	if script := compile(source); script.tame {
		s.known[script.sha] = script
	}
}
