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

var workshops = []string{"docs/workshop.md", "docs/zh-CN/workshop.md"}

var (
	total   = regexp.MustCompile(`(\d+)[ -]?(?:minute|min\b|分钟)`)
	minutes = regexp.MustCompile(`(?i)^(?:minutes?|min|分钟(?:数)?|时长.*|用时.*)$`)
	number  = regexp.MustCompile(`^\d+`)
	sumRow  = regexp.MustCompile(`(?i)total|together|合计|总计|共计`)
)

// The minutes of each plan add up to what its heading promises.
func TestPlansOfTheWorkshopAddUp(t *testing.T) {
	for _, name := range workshops {
		t.Run(name, func(t *testing.T) {
			plans, problems := planProblems(documentNamed(t, name))
			requireNone(t, problems)
			require.GreaterOrEqual(t, plans, 2, "a plan is a heading with its minutes, and tables with a column of minutes")
		})
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
			if t.line < h.line || t.line > d.endOf(i) {
				continue
			}
			column := slices.IndexFunc(t.header, minutes.MatchString)
			if column < 0 {
				continue
			}
			some = true
			n, wrong := d.addUp(t, column)
			sum, problems = sum+n, append(problems, wrong...)
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
	return strings.Count(d.text, "\n") + 1
}

// addUp adds up a column. A row that says so is the sum of those before it.
func (d *document) addUp(t table, column int) (sum int, problems []string) {
	for _, r := range t.rows {
		n, err := strconv.Atoi(number.FindString(strings.TrimSpace(r.cells[column])))
		switch {
		case err != nil:
			problems = append(problems, d.at(r.line)+fmt.Sprintf("%q is no number of minutes", r.cells[column]))
		case sumRow.MatchString(strings.Join(r.cells, " ")):
			if n != sum {
				problems = append(problems, d.at(r.line)+fmt.Sprintf("the rows add up to %d, not %d", sum, n))
			}
		default:
			sum += n
		}
	}
	return sum, problems
}

func TestPlansThatDoNotAddUpAreFound(t *testing.T) {
	rows := "| minutes | what |\n|---:|---|\n| 30 | a |\n| 60 | b |\n"
	for text, want := range map[string]struct {
		plans   int
		problem string
	}{
		"## 90-minute plan\n\n" + rows:                                    {1, ""},
		"## 90-minute plan\n\n" + rows + "| 90 | together |\n":            {1, ""},
		"## 半天方案：180 分钟\n\n### 一\n\n" + rows + "\n### 二\n\n" + rows:       {1, ""},
		"## 90 分钟方案\n\n| 分钟 | 内容 |\n|---|---|\n| 90 | 热身 |\n":             {1, ""},
		"## The plans\n\n" + rows:                                         {0, ""},
		"## Half a day: 240 minutes\n\n" + rows:                           {1, `docs/x.md:1: the minutes of "Half a day: 240 minutes" add up to 90, not 240`},
		"## 90-minute plan\n\n" + rows + "| 80 | together |\n":            {1, "docs/x.md:7: the rows add up to 90, not 80"},
		"## 90-minute plan\n\n" + rows + "| some | c |\n":                 {1, `docs/x.md:7: "some" is no number of minutes`},
		"## 半天方案：240 分钟\n\n| 分钟 | 内容 |\n|---|---|\n| 90 | 热身 |\n":         {1, `docs/x.md:1: the minutes of "半天方案：240 分钟" add up to 90, not 240`},
		"## 90-minute plan\n\n" + rows + "\n## 10-minute plan\n\n" + rows: {2, `docs/x.md:8: the minutes of "10-minute plan" add up to 90, not 10`},
	} {
		plans, problems := planProblems(parse("docs/x.md", text))
		require.Equal(t, want.plans, plans, text)
		require.Equal(t, want.problem, strings.Join(problems, "\n"), text)
	}
}
