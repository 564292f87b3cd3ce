package page

import (
	"encoding/json"
	"fmt"
	"html/template"
	"slices"

	"lockkata/internal/i18n"
)

// The page's texts with numbers and verdicts. The others are in its script.
var (
	title   = i18n.New(Title)
	fromTo  = i18n.New("From {before} to {after}: {lesson}")
	allRuns = i18n.New("{n} runs of real locks and real go-redis clients on an embedded Redis: " +
		"{broken} broken, {safe} safe, {noticed} noticed, {limit} that no lock here can prevent.")
	needsScript = i18n.New("This page steps through runs, and needs JavaScript for it. A terminal shows the same: {command}")
)

// dictionaries returns JSON with the texts that the page needs, for each language but English. The page looks
// them up by their English, so a text with two translations is an error.
func dictionaries(english, chinese content) (template.JS, error) {
	var sides [2]any
	for i, side := range []content{english, chinese} {
		raw, err := json.Marshal(side)
		if err != nil {
			return "", err
		}
		if err := json.Unmarshal(raw, &sides[i]); err != nil {
			return "", err
		}
	}
	all := i18n.Dictionary(i18n.Chinese, slices.Concat(stepTexts, pageTexts)...)
	if doubtful := i18n.Pairs(all, sides[0], sides[1]); len(doubtful) > 0 {
		return "", fmt.Errorf("page: texts with two translations: say one of each otherwise: %q", doubtful)
	}
	return script(map[i18n.Language]any{i18n.Chinese: all})
}

// withoutScript is what a browser without JavaScript shows.
type withoutScript struct{ Tag, Title, Says string }

func noScripts() (all []withoutScript) {
	for _, l := range i18n.Languages {
		says := needsScript.Localize(l, "command", "go run . show check-then-delete --before-after")
		all = append(all, withoutScript{l.Tag(), title.Localize(l), says})
	}
	return all
}
