package playground

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"lockkata/failures_test/timeline"
	"lockkata/internal/columns"
	"lockkata/internal/edits"
	"lockkata/internal/texts"
)

// and stands between the edits that a request names: nx-dropped+no-lease.
const and = "+"

// compiledOnly is the column whose lock the interpreter does not run.
const compiledOnly = "6"

var (
	sameCode  = texts.New("“{edit}” cannot be on beside “{other}”: both change the same code")
	oneAtOnce = texts.New("{lock} takes one edit at a time: the page interprets a lock that has more, and this one has to be compiled")
)

// clash tells whether two edits of a lock change the same code.
func clash(a, b edits.Edit, text string) bool {
	x, y := strings.Index(text, a.Old), strings.Index(text, b.Old)
	return a.File == b.File && x < y+len(b.Old) && y < x+len(a.Old)
}

// combine puts several edits into the lock of a column. It is interpreted: a build has a body
// of each function for every edit, and would need one for every combination.
func (l *locks) combine(c *columns.Column, code timeline.Code, ids []string) (timeline.Code, error) {
	if c.ID == compiledOnly {
		return code, oneAtOnce.With("lock", c.Said())
	}
	var chosen []edits.Edit
	for _, id := range ids {
		i, err := find(*c, id)
		if err != nil {
			return code, err
		}
		chosen = append(chosen, edits.All[i])
	}
	files := map[string]string{}
	for _, f := range code.Files {
		text, err := apply(f, chosen)
		if err != nil {
			return code, err
		}
		files[f.Name] = text
	}
	code, err := l.write(c, files)
	if wrong := problemsOf(err); len(wrong) > 0 && withoutUse(files, wrong) {
		return l.write(c, files)
	}
	return code, err
}

// apply makes the edits that belong to a file. It looks for each in a part of its own, since
// another edit may write code that looks the same.
func apply(f timeline.File, all []edits.Edit) (string, error) {
	mine := slices.DeleteFunc(slices.Clone(all), func(e edits.Edit) bool { return path.Base(e.File) != f.Name })
	at := func(e edits.Edit) int { return strings.Index(f.Text, e.Old) }
	slices.SortFunc(mine, func(a, b edits.Edit) int { return at(a) - at(b) })
	edited, done := "", 0
	for i, e := range mine {
		if i > 0 && clash(mine[i-1], e, f.Text) {
			return "", sameCode.With("edit", texts.Text(e.Name), "other", texts.Text(mine[i-1].Name))
		}
		end := at(e) + len(e.Old)
		part, err := e.Apply(f.Text[done:end])
		if err != nil {
			return "", err
		}
		edited, done = edited+part, end
	}
	return edited + f.Text[done:], nil
}

var unused = regexp.MustCompile(`^"[^"]+" imported (?:as \w+ )?and not used$`)

// withoutUse makes the imports blank that the edits leave without a use. It tells whether
// nothing else is wrong.
func withoutUse(files map[string]string, wrong problems) bool {
	for _, p := range wrong {
		if !unused.MatchString(p.Text) {
			return false
		}
		lines := strings.Split(files[p.File], "\n")
		lines[p.Line-1] = strings.Replace(lines[p.Line-1], `"`, `_ "`, 1)
		files[p.File] = strings.Join(lines, "\n")
	}
	return true
}
