package docs_test

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/internal/i18n"
)

// libraries are the columns of the table of docs/others.md. The name is that of the library's section and of its
// card in failures_test/others/testdata, or of a column of expected.txt.
var libraries = []struct{ name, card string }{
	{"redis-py", "redis-py"}, {"python-redis-lock", "python-redis-lock"}, {"Redisson", "redisson"},
	{"Spring Integration", "spring-integration"}, {"ShedLock", "shedlock"}, {"redlock", "redlock"},
	{"@sesamecare-oss/redlock", "sesamecare-redlock"}, {"redis-semaphore", "redis-semaphore"},
	{"redsync", ""}, {"redislock", ""}, {"go-zero", ""}, {"rueidislock", ""},
}

// noFaults are the broken outcomes that are no fault of the library: its section says why.
var noFaults = map[string]string{"python-redis-lock": "hold-dropped", "Spring Integration": "next-hold-renewed"}

// cardsTable returns the outcomes of the failures of the first screen, and of the ten others that differ most
// between the libraries, as a table of the page.
func cardsTable(t *testing.T, page *document) string {
	t.Helper()
	outcomes := map[string][]string{} // by failure, a cell for each library
	heads := []string{""}
	for i, l := range libraries {
		for id, outcome := range cardOf(t, l.name, l.card) {
			if outcomes[id] == nil {
				outcomes[id] = make([]string, len(libraries))
			}
			if noFaults[l.name] != id {
				outcomes[id][i], _, _ = strings.Cut(outcome, " or ")
			}
		}
		heads = append(heads, fmt.Sprintf("[%s](#%s)", l.name, anchorOf(l.name)))
	}
	text := "| " + strings.Join(heads, " | ") + " |\n|---|" + strings.Repeat("---|", len(libraries)) + "\n"
	for _, f := range shownFailures(outcomes) {
		cells := []string{fmt.Sprintf("`%s` %s", f.ID, i18n.Text(f.Title).Localize(languageOf(page.name)))}
		for _, outcome := range outcomes[f.ID] {
			cells = append(cells, signs[outcome])
		}
		text += "| " + strings.Join(cells, " | ") + " |\n"
	}
	return text
}

var signs = map[string]string{
	failures.Broken.String(): "✗", failures.Safe.String(): "✓", failures.Noticed.String(): "◐", failures.Limit.String(): "~",
	failures.NotApplicable.String(): "–",
}

// shownFailures returns the failures of the table, in the order of the catalogue.
func shownFailures(outcomes map[string][]string) []catalogue.Failure {
	count := func(f catalogue.Failure, o failures.Outcome) (n int) {
		for _, outcome := range outcomes[f.ID] {
			if outcome == o.String() {
				n++
			}
		}
		return n
	}
	contrast := func(f catalogue.Failure) int { return min(count(f, failures.Broken), count(f, failures.Safe)) }
	first, rest := []catalogue.Failure{}, []catalogue.Failure{}
	for _, f := range catalogue.OfLocks() {
		if f.FirstScreen {
			first = append(first, f)
		} else {
			rest = append(rest, f)
		}
	}
	slices.SortStableFunc(rest, func(a, b catalogue.Failure) int { return contrast(b) - contrast(a) })
	return append(first, rest[:10]...)
}

// cardOf returns the outcomes of a library by failure.
func cardOf(t *testing.T, name, card string) map[string]string {
	t.Helper()
	file, column := card, 0
	if card == "" {
		file = "expected"
	}
	raw, err := fs.ReadFile(root, "failures_test/others/testdata/"+file+".txt")
	require.NoError(t, err)
	outcomes := map[string]string{}
	for i, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		id, rest, _ := strings.Cut(line, ": ")
		cells := strings.Split(rest, ", ")
		if i == 0 && card == "" {
			column = slices.Index(cells, name)
			require.GreaterOrEqual(t, column, 0, name)
			continue
		}
		outcomes[id] = cells[column]
	}
	return outcomes
}

// anchorOf returns the anchor of a library's section.
func anchorOf(name string) string {
	return "others-" + strings.Trim(strings.ToLower(strings.NewReplacer(" ", "-", "@", "", "/", "-").Replace(name)), "-")
}
