package schedule

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"

	"lockkata/internal/i18n"
)

// Text is a schedule as a string that [Parse] reads:
// v1/stage3/2c/2x/async/wrong-delete/a.A.b.B.t
// 3g are three clients of which all but the first are goroutines of one process;
// check-then-delete@12 are those of a failure's run, taken over after its twelfth event.
func Text(s Setup, schedule []string) string {
	return fmt.Sprintf("v1/%s/%s/%dx/%s/%s/%s", s.Subject.Name, s.who(), s.Attempts, s.Env.Name, s.Property.Name,
		strings.Join(schedule, "."))
}

// who are the clients.
func (s Setup) who() string {
	switch {
	case s.From != nil:
		return s.From.String()
	case s.Together:
		return fmt.Sprintf("%dg", s.Clients)
	}
	return fmt.Sprintf("%dc", s.Clients)
}

// What cannot be read.
var (
	noSchedule = i18n.New("{text} is no schedule: one looks like v1/stage3/2c/2x/async/wrong-delete/a.A.b.B.t")
	badNumber  = i18n.New("{text} in the schedule: it has to be a number from 1 to 9 and {unit}, as 2{unit}")
	noEnv      = i18n.New("there is no environment {name}: there are {names}")
	noProperty = i18n.New("there is no property {name}: there are {names}")
	noStart    = i18n.New("{text} in the schedule: there is no failure {name}")
	badStart   = i18n.New("{text} in the schedule: after {sign} stands how many events have happened")
)

// Parse reads a schedule's string. The setup it returns has no Subject yet but its
// name, which is returned beside it.
func Parse(text string) (s Setup, subject string, schedule []string, err error) {
	parts := strings.Split(text, "/")
	if len(parts) != 7 || parts[0] != "v1" {
		return s, "", nil, noSchedule.Args("text", strconv.Quote(text))
	}
	var errs [4]error
	errs[0] = s.readWho(parts[2])
	s.Attempts, errs[1] = number(parts[3], "x")
	s.Env, errs[2] = FindEnv(parts[4])
	s.Property, errs[3] = FindProperty(parts[5])
	if parts[6] != "" {
		schedule = strings.Split(parts[6], ".")
	}
	return s, parts[1], schedule, cmp.Or(errs[:]...)
}

func (s *Setup) readWho(text string) (err error) {
	if strings.Contains(text, startAt) {
		s.From, err = readStart(text)
		return err
	}
	unit := "c"
	if s.Together = strings.HasSuffix(text, "g"); s.Together {
		unit = "g"
	}
	s.Clients, err = number(text, unit)
	return err
}

func number(text, unit string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSuffix(text, unit))
	if err != nil || !strings.HasSuffix(text, unit) || n < 1 || n > 9 {
		return 0, badNumber.Args("text", strconv.Quote(text), "unit", unit)
	}
	return n, nil
}

// foreign stands in the name of a lock between what it is called and the hash of its source.
const foreign = "~"

// ForeignName is the name, in a schedule's string, of a lock that is nobody's but its
// author's, such as one that a visitor edits: what it is called, and a short hash of its
// source. So the string tells of which version it is, and never replays on another lock.
func ForeignName(name string, source ...string) string {
	hash := sha256.Sum256([]byte(strings.Join(source, "\x00")))
	return fmt.Sprintf("%s%s%x", strings.ReplaceAll(name, "/", "-"), foreign, hash[:4])
}

// IsForeign tells whether a lock's name is a [ForeignName].
func IsForeign(name string) bool { return strings.Contains(name, foreign) }

// FindEnv finds an environment by its name.
func FindEnv(name string) (Env, error) {
	return find(noEnv, name, Envs, func(e Env) string { return e.Name })
}

// FindProperty finds a property by its name.
func FindProperty(name string) (Property, error) {
	return find(noProperty, name, Properties, func(p Property) string { return p.Name })
}

func find[T any](fault i18n.Text, name string, all []T, nameOf func(T) string) (none T, err error) {
	var names []string
	for _, x := range all {
		if nameOf(x) == name {
			return x, nil
		}
		names = append(names, nameOf(x))
	}
	return none, fault.Args("name", strconv.Quote(name), "names", strings.Join(names, ", "))
}
