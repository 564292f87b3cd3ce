package page

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

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

func TestTextWithTwoTranslationsIsAnError(t *testing.T) {
	_, err := dictionaries(content{Title: "lock", Total: "lock"}, content{Title: "锁", Total: "加锁"})
	require.ErrorContains(t, err, `texts with two translations: say one of each otherwise: ["lock`)
	_, err = dictionaries(content{Title: "lock", Total: "lock"}, content{Title: "锁", Total: "锁"})
	require.NoError(t, err)
}
