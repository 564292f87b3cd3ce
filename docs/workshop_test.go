package docs_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	total   = regexp.MustCompile(`(\d+)[ -]?(?:minute|min\b|分钟)`)
	minutes = regexp.MustCompile(`(?i)^(?:minutes?|min|分钟(?:数)?|时长.*|用时.*)$`)
	sumRow  = regexp.MustCompile(`(?i)total|together|合计|总计|共计`)
)

// The minutes of each plan add up to what its heading promises.
func TestPlansOfTheWorkshopAddUp(t *testing.T) {
	for _, name := range []string{"docs/workshop.md", "docs/zh-CN/workshop.md"} {
		plans, problems := planProblems(documentNamed(t, name))
		requireNone(t, problems)
		require.GreaterOrEqual(t, plans, 2, "a plan is a heading with its minutes, and tables with a column of minutes")
	}
}

// planProblems adds up the tables under each heading that names its minutes.
func planProblems(d *document) (plans int, problems []string) {
	for i, h := range d.headings {
		promised := total.FindStringSubmatch(h.text)
		if promised == nil {
			continue
		}
		sum, some := 0, false
		for _, t := range d.tables {
			column := slices.IndexFunc(t.rows[0], minutes.MatchString)
			if column < 0 || t.line < h.line || t.line > d.endOf(i) {
				continue
			}
			n, wrong := d.addUp(t, column)
			sum, some, problems = sum+n, true, append(problems, wrong...)
		}
		if !some {
			continue
		}
		plans++
		if want, _ := strconv.Atoi(promised[1]); sum != want {
			problems = append(problems, d.at(h.line)+fmt.Sprintf("the minutes of %q add up to %d, not %d", h.text, sum, want))
		}
	}
	return plans, problems
}

// endOf is the last line under a heading: the next of its level or higher, or with
// minutes of its own, ends it.
func (d *document) endOf(i int) int {
	for _, next := range d.headings[i+1:] {
		if next.level <= d.headings[i].level || total.MatchString(next.text) {
			return next.line
		}
	}
	return len(d.lines)
}

// addUp adds up a column. A row that says so is the sum of those before it.
func (d *document) addUp(t table, column int) (sum int, problems []string) {
	for i, cells := range t.rows[2:] {
		n := 0
		_, err := fmt.Sscan(cells[column], &n)
		switch {
		case err != nil:
			problems = append(problems, d.at(t.line+2+i)+fmt.Sprintf("%q is no number of minutes", cells[column]))
		case !sumRow.MatchString(strings.Join(cells, " ")):
			sum += n
		case n != sum:
			problems = append(problems, d.at(t.line+2+i)+fmt.Sprintf("the rows add up to %d, not %d", sum, n))
		}
	}
	return sum, problems
}
