package others

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
)

// modules has the libraries by their paths in go.mod.
var modules = map[string]string{
	"github.com/go-redsync/redsync/v4": "redsync", "github.com/bsm/redislock": "redislock",
	"github.com/zeromicro/go-zero": "go-zero", "github.com/redis/rueidis": "rueidislock",
}

// otherLanguages has the cards of the libraries of other languages, by their sections of the page.
var otherLanguages = map[string]string{
	"redis-py": "redis-py", "python-redis-lock": "python-redis-lock", "Redisson": "redisson", "Spring Integration": "spring-integration",
	"ShedLock": "shedlock", "redlock": "redlock", "@sesamecare-oss/redlock": "sesamecare-redlock", "redis-semaphore": "redis-semaphore",
}

func page(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("../../docs/others.md")
	require.NoError(t, err)
	return string(raw)
}

// pageSection returns the section of docs/others.md on a library.
func pageSection(t *testing.T, library string) string {
	t.Helper()
	_, section, found := strings.Cut(page(t), "\n### "+library+" ")
	require.True(t, found, library)
	section, _, _ = strings.Cut(section, "\n##")
	return section
}

func TestPageHasARowForEachBrokenOutcome(t *testing.T) {
	all := map[string]map[string]string{}
	for _, library := range modules {
		all[library] = expected(t, library)
	}
	for library, card := range otherLanguages {
		all[library] = outcomesOf(t, "testdata/"+card+".txt")
	}
	for library, outcomes := range all {
		var broken, shown []string
		for failure, outcome := range outcomes {
			if first, _, _ := strings.Cut(outcome, " or "); first == failures.Broken.String() {
				broken = append(broken, failure)
			}
		}
		for line := range strings.Lines(pageSection(t, library)) {
			if cell, isRow := strings.CutPrefix(line, "| `"); isRow {
				cell, _, _ = strings.Cut(cell, "` |")
				shown = append(shown, strings.Split(cell, "`, `")...)
			}
		}
		require.ElementsMatch(t, broken, shown, library)
	}
}

// outcomesOf returns the outcomes of a card that grade has written.
func outcomesOf(t *testing.T, card string) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(card)
	require.NoError(t, err)
	outcomes := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		failure, outcome, _ := strings.Cut(strings.TrimSpace(line), ": ")
		outcomes[failure] = outcome
	}
	return outcomes
}

// The text of a link is a quotation from the linked line, or its file and number.
func TestPageLinksToTheGradedVersions(t *testing.T) {
	text := page(t)
	links := regexp.MustCompile("\\[[`“]([^]]+)[`”]\\]\\(https://([^)]+)/blob/([^/]+)/([^)#]+)#L([0-9]+)\\)").FindAllStringSubmatch(text, -1)
	require.Len(t, links, strings.Count(text, "#L"), "other links to lines")
	list := exec.Command("go", "list", "-m", "-f", "{{.Path}} {{.Version}} {{.Dir}}")
	for module := range modules {
		list.Args = append(list.Args, module)
	}
	out, err := list.Output()
	require.NoError(t, err)
	checked := 0
	for module := range strings.Lines(string(out)) {
		fields := strings.Fields(module)
		name, version, dir := fields[0], fields[1], fields[2]
		require.Contains(t, text, "\n### "+modules[name]+" "+version+"\n")
		for _, l := range links {
			quoted, repository, tag, file, line := l[1], l[2], l[3], l[4], l[5]
			if repository != strings.TrimSuffix(name, "/v4") {
				continue
			}
			require.Equal(t, version, tag, l[0])
			raw, err := os.ReadFile(filepath.Join(dir, file))
			require.NoError(t, err)
			n, err := strconv.Atoi(line)
			require.NoError(t, err)
			lines := strings.Split(string(raw), "\n")
			require.Contains(t, fmt.Sprintf("%s:%d %s", path.Base(file), n, lines[n-1]), quoted, l[0])
			checked++
		}
	}
	require.Equal(t, len(links), checked)
}
