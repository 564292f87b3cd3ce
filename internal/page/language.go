package page

import (
	"encoding/json"
	"html/template"
	"slices"

	"lockkata/internal/texts"
)

// What the page says that is made of numbers and verdicts; its script says the rest.
var (
	title   = texts.New(Title)
	fromTo  = texts.New("From {before} to {after}: {lesson}")
	allRuns = texts.New("{n} runs of real locks and real go-redis clients on an embedded Redis: " +
		"{broken} broken, {safe} safe, {noticed} noticed, {inherent} unavoidable.")
	needsScript = texts.New("This page steps through runs, and needs JavaScript for it. A terminal shows the same: {command}")
)

// dictionaries is JSON: for each language but English, what the page needs to say all its texts
// in it. doubtful are the texts that have two translations: the page says one wrong.
func dictionaries(english, chinese content) (said template.JS, doubtful []string, err error) {
	var sides [2]any
	for i, side := range []content{english, chinese} {
		raw, err := json.Marshal(side)
		if err != nil {
			return "", nil, err
		}
		if err := json.Unmarshal(raw, &sides[i]); err != nil {
			return "", nil, err
		}
	}
	all := texts.Dictionary(texts.Chinese, slices.Concat(stepTexts, pageTexts)...)
	doubtful = texts.Pairs(all, sides[0], sides[1])
	said, err = script(map[texts.Language]any{texts.Chinese: all})
	return said, doubtful, err
}

// withoutScript is what a browser shows that runs no scripts.
type withoutScript struct{ Tag, Title, Says string }

func noScripts() (all []withoutScript) {
	for _, l := range texts.Languages {
		says := needsScript.In(l, "command", "go run . show check-then-delete --before-after")
		all = append(all, withoutScript{l.Tag(), title.In(l), says})
	}
	return all
}
