package schedule

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"

	"lockkata/internal/i18n"
)

// Text returns a schedule as a string for [Parse]: v1/stage3/2c/2x/async/wrong-delete/a.A.b.B.t.
// Instead of 2c, 3g means three clients of which all but the first are goroutines of one process;
// check-then-delete@12 means those of a failure's run, after its twelfth event.
func Text(s Setup, schedule []string) string {
	return fmt.Sprintf("v1/%s/%s/%dx/%s/%s/%s", s.Subject.Name, s.clients(), s.Attempts, s.Env.Name, s.Property.Name,
		strings.Join(schedule, "."))
}

// clients returns the clients' part of the string.
func (s Setup) clients() string {
	switch {
	case s.From != nil:
		return s.From.String()
	case s.Together:
		return fmt.Sprintf("%dg", s.Clients)
	}
	return fmt.Sprintf("%dc", s.Clients)
}

// Errors of Parse.
var (
	noSchedule = i18n.New("{text} is not a schedule: write one like v1/stage3/2c/2x/async/wrong-delete/a.A.b.B.t")
	badNumber  = i18n.New("{text} in the schedule: write a number from 1 to 9 and {unit}, such as 2{unit}")
	noEnv      = i18n.New("there is no environment {name}: there are {names}")
	noProperty = i18n.New("there is no property {name}: there are {names}")
	noStart    = i18n.New("{text} in the schedule: there is no failure {name}")
	badStart   = i18n.New("{text} in the schedule: write the number of events after {sign}")
)

// Parse parses a schedule. The setup has no Subject; Parse returns its name as subject.
func Parse(text string) (s Setup, subject string, schedule []string, err error) {
	parts := strings.Split(text, "/")
	if len(parts) != 7 || parts[0] != "v1" {
		return s, "", nil, noSchedule.Args("text", strconv.Quote(text))
	}
	var errs [4]error
	errs[0] = s.readClients(parts[2])
	s.Attempts, errs[1] = number(parts[3], "x")
	s.Env, errs[2] = FindEnv(parts[4])
	s.Property, errs[3] = FindProperty(parts[5])
	if parts[6] != "" {
		schedule = strings.Split(parts[6], ".")
	}
	return s, parts[1], schedule, cmp.Or(errs[:]...)
}

func (s *Setup) readClients(text string) (err error) {
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

// foreign separates name and hash in a ForeignName.
const foreign = "~"

// ForeignName returns a name for a lock from outside the project, such as one that a visitor edits:
// its name and a short hash of its source. So a schedule never replays on another version of the
// lock.
func ForeignName(name string, source ...string) string {
	hash := sha256.Sum256([]byte(strings.Join(source, "\x00")))
	return fmt.Sprintf("%s%s%x", strings.ReplaceAll(name, "/", "-"), foreign, hash[:4])
}

// IsForeign reports whether a lock's name is a [ForeignName].
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
