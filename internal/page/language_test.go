package page

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
)

// The page looks up texts by their English, so each English text must have only one translation, in
// every run of the catalogue.
func TestEveryTextOfThePageHasOneTranslation(t *testing.T) {
	shown, err := stages.Ready(t, stages.Public())
	require.NoError(t, err)
	rows := stages.Judge(t, failures.All, shown)
	others, err := PlayOthers(t, os.DirFS("../.."))
	require.NoError(t, err)
	var all [2]content
	for i, l := range i18n.Languages {
		all[i], err = collect(shown, rows, others, os.DirFS("../.."), l)
		require.NoError(t, err)
		all[i].playable(l)
	}
	_, doubtful, err := dictionaries(all[0], all[1])
	require.NoError(t, err)
	require.Empty(t, doubtful, "say one of them otherwise")
}

var (
	inScript = regexp.MustCompile(`(?m)/\*.*?\*/|^\s*//.*$| // .*$|\b(?:say|tell)\('[^'\n]*'|class: '[^']*'|^const goToken = .*$|'use strict'`)
	literal  = regexp.MustCompile("'[^'\\n]*'|`[^`]*`")
	sentence = regexp.MustCompile(`\b[A-Za-z]{2,},? [A-Za-z]{2,}\b|^.[A-Z][a-z]+ |\}, |, \$`)
	code     = regexp.MustCompile("own-|response|^'(?:go run|--|Home End|input|button)|^`(?:go run|<)")
)

// A sentence in the script outside say and tell would stay English.
func TestScriptSaysAllItsSentences(t *testing.T) {
	scripts := stepScript + pageScript
	for _, found := range literal.FindAllString(inScript.ReplaceAllString(scripts, ""), -1) {
		if sentence.MatchString(found) && !code.MatchString(found) {
			t.Errorf("not said: %s", found)
		}
	}
	require.Empty(t, regexp.MustCompile("\\b(?:say|tell)\\([`\"]").FindAllString(scripts, -1), "only what is in single quotes is found")
}

// The page's scripts are one script, in which a second function of a name replaces the first.
func TestScriptsDeclareNoNameTwice(t *testing.T) {
	declared := map[string]bool{}
	for _, found := range regexp.MustCompile(`(?m)^(?:async )?function (\w+)`).FindAllStringSubmatch(stepScript+pageScript, -1) {
		require.False(t, declared[found[1]], found[1])
		declared[found[1]] = true
	}
	require.NotEmpty(t, declared)
}
