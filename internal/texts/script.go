package texts

import (
	"maps"
	"regexp"
	"slices"
)

// inScript is where a page's script says a text: say('…') in one piece, tell('…') as a list in
// which elements may be put in.
var inScript = regexp.MustCompile(`\b(?:say|tell)\('([^'\n]*)'`)

// OfScript are the texts that a page's script says. They are known from now on: like New,
// it is for package variables.
func OfScript(script string) (all []Text) {
	for _, found := range inScript.FindAllStringSubmatch(script, -1) {
		all = append(all, Text(found[1]))
	}
	Know(all...)
	return all
}

// Dictionary is what a page needs to say texts in a language: those that differ from their
// English, each with its translation.
func Dictionary(l Language, all ...Text) map[string]string {
	put := map[string]string{}
	for _, t := range all {
		if in := t.In(l); in != string(t) {
			put[string(t)] = in
		}
	}
	return put
}

// Pairs adds to a dictionary the strings of an English value of JSON, each with the string at
// the same place of the value in another language. It returns the strings that have two
// translations: a page cannot know which one is meant.
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
