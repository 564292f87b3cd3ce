package i18n

import (
	"maps"
	"regexp"
	"slices"
)

// inScript matches the texts of a page's script: say('…') returns a string, tell('…') a list that
// may have elements.
var inScript = regexp.MustCompile(`\b(?:say|tell)\('([^'\n]*)'`)

// OfScript returns the texts of a page's script and registers them. Like New, it is for
// package variables.
func OfScript(script string) (all []Text) {
	for _, found := range inScript.FindAllStringSubmatch(script, -1) {
		all = append(all, Text(found[1]))
	}
	Register(all...)
	return all
}

// Dictionary returns the texts that differ in a language from their English, each with its
// translation.
func Dictionary(l Language, all ...Text) map[string]string {
	put := map[string]string{}
	for _, t := range all {
		if in := t.Localize(l); in != string(t) {
			put[string(t)] = in
		}
	}
	return put
}

// Pairs adds to a dictionary the strings of an English value of JSON, each with the string at
// the same place of the value in another language. It returns the strings that have two
// translations, since a page could not choose.
func Pairs(put map[string]string, english, other any) (doubtful []string) {
	switch was := english.(type) {
	case map[string]any:
		is, _ := other.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(was)) {
			doubtful = append(doubtful, Pairs(put, was[key], is[key])...)
		}
	case []any:
		is, _ := other.([]any)
		for i := range min(len(was), len(is)) {
			doubtful = append(doubtful, Pairs(put, was[i], is[i])...)
		}
	case string:
		is, _ := other.(string)
		if said, ok := put[was]; ok && said != is {
			return []string{was}
		}
		if is != was && is != "" {
			put[was] = is
		}
	}
	return doubtful
}
